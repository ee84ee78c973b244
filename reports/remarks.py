"""What a report has to say of its folders: suites that are not over, and runs that are there more than once."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from reports.figures import many
from reports.ingest.folders import Folder

MAX_NAMED = 3


def remarks_on(folders: Sequence[Folder], rows: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Sentences; `rows` are those of the table of folders."""
    of_manifests = [remark for folder in folders for remark in folder.remarks]
    return (*of_manifests, *(remark for row in rows for remark in folder_remarks(row)), *duplicate_run_remarks(rows))


def duplicate_run_remarks(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Which runs were left out because a later folder has them too, and why; `rows` as above."""
    repeated = [f"{row['runs'] - row['counted']} of {row['folder']}" for row in rows if row["counted"] < row["runs"]]
    left_out = sum(row["runs"] - row["counted"] for row in rows)
    if left_out:
        named = f" ({', '.join(repeated[:MAX_NAMED])}{', ...' if len(repeated) > MAX_NAMED else ''})"
        verb = "is" if left_out == 1 else "are"
        yield (
            f"{many(left_out, 'run')}{named} {verb} in a later folder too: the same scenario, settings and seed make"
            " the same run, which counts once, as the last folder has it; another --seed makes another run"
        )


def folder_remarks(row: Mapping[str, Any]) -> Iterator[str]:
    ended, planned = row["runs"], row["planned"]
    so_far = f"{ended} of {many(planned, 'run')}" if planned else many(ended, "run")
    if row["is_written"]:
        yield f"{row['folder']} is being written to: {so_far} so far"
    elif planned and ended < planned:
        yield f"{row['folder']} holds {so_far}: resume with faultlab run --resume {shlex.quote(row['folder'])}"
