"""The manifest of a suite: what was asked for, so that it can be resumed, replayed and read without guessing."""

from pydantic import Field

from harness.records.run import FORMAT, Record


class Manifest(Record):
    """manifest.json: written before the first run. `run_ids` are in the order in which the suite planned them;
    `arguments` repeat the command (paths relative to `folder`)."""

    format: int = FORMAT
    suite: str
    faultlab: str
    environment: str
    seed: int
    arguments: tuple[str, ...]
    folder: str
    started_at: str
    run_ids: tuple[str, ...]
    machine: str
    """CPU model, cores and memory: results of different machines are not compared."""
    commit: str = Field("", exclude_if=lambda commit: not commit)
    """Of the repository in which the command was given; `-dirty` behind it where files had changed. Absent where there
    is none."""
