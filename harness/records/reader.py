"""Reads a results folder back, whatever happened to it: a cut last line is normal, a corrupt one is set aside.

Nothing is skipped in silence: every line that could not be used is returned with its file, number and reason.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from harness.records.event import EventRecord
from harness.records.folder import ResultsFolder, ResultsUnreadable
from harness.records.group import GroupRecord
from harness.records.line import DAMAGED, fits_checksum
from harness.records.manifest import Manifest
from harness.records.run import FORMAT, Record, RunRecord

R = TypeVar("R", bound=Record)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuarantinedLine:
    """A line that could not be used. `number` counts from 1; `cut`: the last line, as an interruption leaves it."""

    file: Path
    number: int
    reason: str
    cut: bool

    def __str__(self) -> str:
        return f"{self.file}:{self.number}: {self.reason}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """What a folder holds. `runs` has one record a run_id (the highest attempt counts), in the manifest's order;
    `tries` all of them in the order of the file; `groups` what they amount to together, once all have ended."""

    folder: ResultsFolder
    manifest: Manifest
    runs: tuple[RunRecord, ...]
    tries: tuple[RunRecord, ...]
    quarantined: tuple[QuarantinedLine, ...]
    groups: tuple[GroupRecord, ...] = ()

    @property
    def missing(self) -> tuple[str, ...]:
        """Planned run_ids without a record."""
        there = {run.run_id for run in self.runs}
        return tuple(run_id for run_id in self.manifest.run_ids if run_id not in there)


def read(path: Path) -> Results:
    """Read manifest and runs. Raises ResultsUnreadable: no suite there, no permission, or a newer format."""
    folder = ResultsFolder(path)
    manifest = read_manifest(folder)
    quarantined: list[QuarantinedLine] = []
    tries = tuple(_records(folder.runs, RunRecord, quarantined))
    for run in tries:
        _not_newer(run.format, folder.runs)
    groups = tuple(_records(folder.groups, GroupRecord, quarantined))
    for group in groups:
        _not_newer(group.format, folder.groups)
    planned = {run_id: place for place, run_id in enumerate(manifest.run_ids)}
    counted = {run.run_id: run for run in sorted(tries, key=lambda run: run.attempt)}
    runs = sorted(counted.values(), key=lambda run: planned.get(run.run_id, len(planned)))
    return Results(
        folder=folder, manifest=manifest, runs=tuple(runs), tries=tries, quarantined=tuple(quarantined), groups=groups
    )


def read_events(results: Results, quarantined: list[QuarantinedLine]) -> Iterator[EventRecord]:
    """The events of the tries that have a run line; those of a run that a crash cut off are left out.

    Lines that cannot be used are added to `quarantined`.
    """
    whole = {(run.run_id, run.attempt) for run in results.tries}
    for event in _records(results.folder.events, EventRecord, quarantined):
        if (event.run_id, event.attempt) in whole:
            yield event


def folders(parent: Path) -> list[Path]:
    """The results folders in `parent`, the suite that was begun last first; none where there is no such folder."""
    try:
        there = [path for path in parent.iterdir() if ResultsFolder(path).manifest.is_file()]
    except OSError:
        return []
    return sorted(there, key=lambda path: (-ResultsFolder(path).manifest.stat().st_mtime_ns, path.name))


def read_manifest(folder: ResultsFolder) -> Manifest:
    """What the suite was asked for. Raises ResultsUnreadable."""
    try:
        text = folder.manifest.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise ResultsUnreadable(
            f"{folder.path} is no results folder: it has no {folder.manifest.name}",
            "name a folder that `faultlab run` made",
        ) from None
    except OSError as error:
        raise ResultsUnreadable(
            f"cannot read {folder.manifest}: {error.strerror}", "check the folder's permissions"
        ) from error
    try:
        manifest = Manifest.model_validate_json(text)
    except ValidationError as error:
        raise ResultsUnreadable(
            f"{folder.manifest} is corrupt: {_reason(error)}", "run the suite again into another folder"
        ) from error
    _not_newer(manifest.format, folder.manifest)
    return manifest


def _not_newer(found: int, file: Path) -> None:
    if found > FORMAT:
        raise ResultsUnreadable(
            f"{file} was written by a newer faultlab: run format {found}, this one reads up to {FORMAT}",
            "read it with that version",
        )


def _records(file: Path, model: type[R], quarantined: list[QuarantinedLine]) -> Iterator[R]:
    try:
        handle = file.open("rb")
    except FileNotFoundError:
        return  # a suite that was interrupted before its first run ended
    except OSError as error:
        raise ResultsUnreadable(f"cannot read {file}: {error.strerror}", "check the file's permissions") from error
    with handle:
        for number, line in enumerate(handle, start=1):
            cut = not line.endswith(b"\n")
            if cut:
                reason = "cut line: the suite was interrupted while it was written"
                quarantined.append(QuarantinedLine(file=file, number=number, reason=reason, cut=True))
                continue
            try:
                record = model.model_validate_json(line)
            except ValidationError as error:
                quarantined.append(QuarantinedLine(file=file, number=number, reason=_reason(error), cut=False))
                continue
            if fits_checksum(line):
                yield record
            else:
                quarantined.append(QuarantinedLine(file=file, number=number, reason=DAMAGED, cut=False))


def _reason(error: ValidationError) -> str:
    """The first thing wrong, in one line."""
    first = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    return f"{where}: {first['msg']}" if where else first["msg"]
