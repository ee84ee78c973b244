"""The report as JUnit XML, as `faultlab run --ci` writes it: from the report's tables, a run at a time."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa

from harness.records.group import GroupRecord
from harness.records.junit import Suite, suites_of, write_document
from harness.records.manifest import Manifest
from harness.records.run import RunRecord
from reports.ingest.folders import Folder

BATCH_RUNS = 500
OF, SCENARIO = "junit_suite", "scenario"
UNUSED = ("measures", "operations", "faults", "settings")
"""Columns that a case says nothing of; some of them are large."""
Row = Mapping[str, Any]


def write_junit_of(folders: Sequence[Folder], runs: pa.Table, groups: Sequence[Row], file: Path) -> Path:
    """`runs` and `groups` are those tables. Raises ResultsUnwritable."""
    return write_document(file, "faultlab", all_suites(folders, runs, groups))


def all_suites(folders: Sequence[Folder], runs: pa.Table, groups: Sequence[Row]) -> Iterator[Suite]:
    """Those of each suite that was run, whichever folders its runs are in."""
    manifests: dict[str, Manifest] = {}
    suite_by_run: dict[str, str] = {}
    for manifest in (one for folder in folders for one in folder.manifests):
        manifests.setdefault(manifest.suite, manifest)
        suite_by_run.update(dict.fromkeys(manifest.run_ids, manifest.suite))
    named = [folder.manifests[0].suite if folder.manifests else folder.name for folder in folders]
    ids, places = runs["run_id"].to_pylist(), runs["suite"].to_pylist()
    own = [suite_by_run.get(run_id, named[place]) for run_id, place in zip(ids, places, strict=True)]
    suites = list(dict.fromkeys([*manifests, *own]))
    table = runs.drop_columns([name for name in UNUSED if name in runs.column_names])
    table = table.append_column(OF, pa.array(own)).sort_by([(OF, "ascending"), (SCENARIO, "ascending")])
    by_suite = {name: [row for row in groups if named[row["suite"]] == name] for name in suites}
    there = set(ids)
    for name in suites:
        rows = table.filter(pa.compute.equal(table[OF], name))
        yield from suites_of(
            name,
            manifests.get(name),
            ((scenario, map(record_of, its)) for scenario, its in groupby(rows_of(rows), key=scenario_of)),
            [GroupRecord.model_validate(without_nulls(row)) for row in by_suite[name]],
            [run_id for run_id, suite in suite_by_run.items() if suite == name and run_id not in there],
            prefix=f"{name}/" if len(suites) > 1 else "",
        )


def rows_of(table: pa.Table) -> Iterator[Row]:
    for batch in table.to_batches(max_chunksize=BATCH_RUNS):
        yield from batch.to_pylist()


def scenario_of(row: Row) -> str:
    return str(row[SCENARIO])


def record_of(row: Row) -> RunRecord:
    return RunRecord.model_validate(without_nulls(row))


def without_nulls(value: Any) -> Any:
    """A record as a line has it: what a table knows nothing of is left out."""
    if isinstance(value, Mapping):
        return {name: without_nulls(one) for name, one in value.items() if one is not None}
    return [without_nulls(one) for one in value] if isinstance(value, list) else value
