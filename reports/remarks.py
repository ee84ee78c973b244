"""What a report has to say of its folders: suites that are not over, and runs that are there more than once."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from reports.figures import many
from reports.ingest.folders import Folder


def remarks_on(folders: Sequence[Folder], rows: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Sentences; `rows` are those of the table of folders."""
    repeated = sum(row["runs"] - row["counted"] for row in rows)
    again = [f"{many(repeated, 'run')} of another folder too: each counts once"] if repeated else []
    of_manifests = [remark for folder in folders for remark in folder.remarks]
    return (*of_manifests, *(remark for row in rows for remark in of_folder(row)), *again)


def of_folder(row: Mapping[str, Any]) -> Iterator[str]:
    ended, planned = row["runs"], row["planned"]
    so_far = f"{ended} of {many(planned, 'run')}" if planned else many(ended, "run")
    if row["is_written"]:
        yield f"{row['folder']} is being written to: {so_far} so far"
    elif planned and ended < planned:
        yield f"{row['folder']} holds {so_far}: go on with faultlab run --resume {row['folder']}"
