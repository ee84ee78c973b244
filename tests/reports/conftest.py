"""A seeded suite with all that a report must cope with, written by the record models."""

import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from playwright.sync_api import Browser, Page, sync_playwright
from pyspark.sql import SparkSession

from bench.inputs.synthetic_suite import SyntheticBlackhole, SyntheticTrace, write_lines, write_suite
from harness.records.event import EventRecord
from harness.records.run import ExpectationResult, LabErrorRecord, MeasureRecord, RunRecord, Term
from reports.ingest.filesystems import LocalFiles
from reports.ingest.folders import find_folders
from reports.ingest.records import Records, read_folders
from reports.ingest.size import Size
from reports.pages.page import write_page
from reports.pages.view import build_page
from reports.pipeline import make_report
from reports.result import ReportResult

sys.path.insert(0, str(Path(__file__).parent))  # helpers, under import-mode=importlib
from in_chromium import FLAGS, Tables, open_page
from rich_rows import agreement_row, outcome_row, recovery_rows

HOSTILE = "<script>alert('x')</script> & \"quoted\" | `ticks` *stars* <img src=x onerror=alert(1)>"
CASES = [SyntheticBlackhole(brokers=n, bootstrap=k, retries=m) for n, k in ((1, 1), (3, 1), (3, 3)) for m in (0, 1, 3)]
REPEATS = 5

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def hostile_text() -> str:
    return HOSTILE


def changed(run: RunRecord, number: int, **fields: object) -> RunRecord:
    """A copy of a run under an id of its own."""
    return run.model_copy(update={"run_id": f"{number:012x}", **fields})


class Slower(SyntheticBlackhole):
    """A release that refreshes metadata a second time, which its formula does not know."""

    def fail(self, trace: SyntheticTrace, *, seed_connection: int, leader: int) -> None:
        super().fail(trace, seed_connection=seed_connection, leader=leader)
        trace.fail_dial(1)
        for _ in range(3):
            trace.wait("Metadata.Retry.Backoff", "metadata back-off")
            trace.fail_dial(-1)
        trace.wait("Admin.Timeout", "a wait that no term knows")


def slower(repeat: int) -> tuple[RunRecord, list[EventRecord]]:
    run, events = Slower(seed=11).run(repeat)
    run_id = f"{5000 + repeat:012x}"
    measured = run.expectations[0].measured or 0.0
    limit = ExpectationResult(
        measure="probe.time_to_error", kind="at_most", formula="3s", bound="at_most: 3s", name="soon", unit="s",
        line=31, predicted=3.0, high=3.0, measured=measured, outcome="failed", fails_run=True,
        terms=(Term(text="3s", count=1.0, each=3.0, total=3.0),),
    )  # fmt: skip
    run = run.model_copy(
        update={
            "expectations": (*run.expectations, limit),
            "run_id": run_id, "scenario": "sarama-upgrade-bound", "client_version": "1.60.1", "verdict": "fail",
            "about": "A release that refreshes metadata once more than its formula says.",
            "reasons": (f"probe.time_to_error was {measured:.3f} s, not 8.850 s",),
        }
    )  # fmt: skip
    return run, [event.model_copy(update={"run_id": run_id}) for event in events]


def settled(run: RunRecord, **fields: object) -> tuple[ExpectationResult, ...]:
    """The run's expectations, taken back as for a run that was spoilt."""
    return tuple(
        one.model_copy(update={"outcome": "inconclusive", "fails_run": False, **fields}) for one in run.expectations
    )


def untested(run: RunRecord, number: int, repeat: int) -> RunRecord:
    """A run whose fault dropped nothing."""
    fault = run.faults[0].model_copy(update={"proven": False, "count": 0, "finding": "dropped 0 packets"})
    return changed(
        run, number, scenario="sarama-heal-mid-dial", repeat=repeat, verdict="inconclusive", faults=(fault,),
        about="The outage ends while a dial is under way.", reasons=("fault `outage` dropped 0 packets",),
        expectations=settled(run)[:1], measures=(run.measures[0].model_copy(update={"value": 0.004}),),
    )  # fmt: skip


def unended(run: RunRecord, number: int, repeat: int) -> RunRecord:
    """A run that the lab gave up on in three of five repeats."""
    censored = repeat <= 3
    measured = None if censored else 41.2 + repeat
    bound = 60.0 if censored else None
    judged = run.expectations[0].model_copy(
        update={
            "measured": measured,
            "censored_at": bound,
            "predicted": 45.0,
            "low": 30.0,
            "high": 60.0,
            "kind": "at_most",
        }
    )
    return changed(
        run,
        number,
        scenario="kafka-go-blackhole-with-a-name-that-is-longer-than-any-table-would-like-it-to-be",
        client="kafka-go",
        client_version="0.4.50",
        repeat=repeat,
        expectations=(judged,),
        measures=(
            MeasureRecord(name="probe.time_to_error", unit="s", value=measured, censored_at=bound),
            MeasureRecord(name="probe.attempts", unit="count", missing="the client's trace has no attempt_started"),
        ),
    )


def hostile(run: RunRecord, number: int, repeat: int) -> RunRecord:
    """A run whose every text is an attempt to be more than text; the lab itself failed in it."""
    operation = run.operations[-1].model_copy(update={"error": HOSTILE})
    claim = ExpectationResult(
        measure="probe.time_to_error", kind="claim", formula=HOSTILE, unit="s", predicted=8.85, low=8.7, high=9.0,
        outcome="inconclusive", declared_holds=False, source=HOSTILE, name=HOSTILE,
    )  # fmt: skip
    return changed(
        run, number, scenario=HOSTILE, repeat=repeat, about=HOSTILE, operations=(*run.operations[:-1], operation),
        verdict="lab_error", reasons=(HOSTILE,), path=HOSTILE,
        expectations=(*settled(run, bound=HOSTILE, name=HOSTILE, formula=HOSTILE), claim),
        error=LabErrorRecord(code="toxiproxy-gone", text=HOSTILE, blame="lab"),
    )  # fmt: skip


@pytest.fixture(scope="session")
def write_hard_suite() -> Callable[[Path], list[RunRecord]]:
    """Writes the suite to a folder and returns the runs that count."""

    def write(folder: Path) -> list[RunRecord]:
        folder.mkdir(parents=True, exist_ok=True)
        runs = write_suite(folder, CASES, repeats=REPEATS)
        pattern = runs[REPEATS]
        for place, make in enumerate((untested, unended, hostile), start=1):
            runs += [make(pattern, 1000 * place + repeat, repeat) for repeat in range(1, REPEATS + 1)]
        told = [slower(repeat) for repeat in range(1, REPEATS + 1)]
        runs += [run for run, _ in told]
        again = runs[0]
        runs[0] = again.model_copy(update={"attempt": 2})
        noisy = again.model_copy(update={"verdict": "inconclusive", "noisy": True})
        write_lines(folder / "runs.jsonl", [noisy, *runs])
        events = (folder / "events.jsonl").read_text(encoding="utf-8")
        first = f'"run_id":"{again.run_id}","attempt":1'
        with (folder / "events.jsonl").open("a", encoding="utf-8") as file:
            for line in events.splitlines():
                if first in line:
                    file.write(line.replace('"attempt":1', '"attempt":2') + "\n")
            for _, more in told:
                file.writelines(event.model_dump_json() + "\n" for event in more)
        return runs

    return write


@pytest.fixture(scope="session")
def hard_folder(tmp_path_factory: pytest.TempPathFactory, write_hard_suite: Callable[[Path], list[RunRecord]]) -> Path:
    """The seeded suite in a folder whose name is a pattern, with three lines that are no records."""
    folder = tmp_path_factory.mktemp("results") / "suite [2] {a,b} *"
    write_hard_suite(folder)
    with (folder / "runs.jsonl").open("a", encoding="utf-8") as runs:
        runs.write('garbage <b>bold</b>\n{"format": 2, "run_id": "x"}\n{"run_id": "cut sho')
    return folder


@pytest.fixture(scope="session")
def read(spark: SparkSession) -> Callable[..., Records]:
    """Reads result folders, few records or many."""

    def of(*folders: Path | str, size: Size = Size.SMALL) -> Records:
        return read_folders(spark, find_folders([str(folder) for folder in folders], LocalFiles()), size)

    return of


@pytest.fixture(scope="session")
def built(spark: SparkSession, hard_folder: Path) -> ReportResult:
    """The seeded suite's report."""
    return make_report(spark, [hard_folder], out=hard_folder, progress=lambda line: None)


@pytest.fixture(scope="session")
def chromium() -> str:
    """Skips, saying why, where there is no browser."""
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip(f"no Chromium on PATH (looked for {', '.join(BROWSERS)})")
    return found


@pytest.fixture(scope="module")
def browser(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield found
        found.close()


@pytest.fixture
def page_messages() -> list[str]:
    """What a page must not do: errors on the console, requests, dialogs."""
    return []


@pytest.fixture(scope="module")
def tables(built: ReportResult, hostile_text: str) -> Tables:
    """The seeded suite's tables, and by hand what it lacks: agreement of every kind, and recovery. Text is hostile."""
    found = {name: pq.read_table(path).to_pylist() for name, path in built.tables.items()}
    for row in found["groups"]:
        row["reason"] = hostile_text
    found["agreement"] = [agreement_row(outcome) for outcome in ("differs", "unsure", "explained", *["agrees"] * 12)]
    found["agreement"].append(
        agreement_row("differs", real=(1.0, 1.1, 1.2), name=hostile_text, case=hostile_text, fault=hostile_text)
    )
    found["agreement"].append(outcome_row("differs", hostile_text, "i/o timeout"))
    times = [(0.3, False), (0.9, False), (2.0, True)]
    found["recovery"] = [
        row
        for place in range(12)
        for row in recovery_rows(times, scenario=f"heal-{place}", client_version=f"1.{place % 3}", case=f"a={place}")
    ]
    found["recovery"] += recovery_rows(times, scenario=hostile_text, fault=hostile_text, case=hostile_text, dark_s=60.0)
    return found


@pytest.fixture(scope="module")
def rich(built: ReportResult, tables: Tables, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with every section in it."""
    page = build_page(tables, (), tables["quarantined"], ())
    return write_page(page, tmp_path_factory.mktemp("rich") / "a page #1.html")


@pytest.fixture
def opened_page(browser: Browser, page_messages: list[str]) -> Iterator[Callable[..., Page]]:
    """Opens pages, by their file or their address; none of them may have said anything in the end."""

    def of(page: Path | str, **other: object) -> Page:
        return open_page(browser, page, page_messages, **other)

    yield of
    assert [line for line in page_messages if not line.startswith("request: data:")] == []
