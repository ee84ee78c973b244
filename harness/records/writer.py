"""Writes a suite's records as its runs end, so that a crash at any moment leaves whole lines and at most one cut one.

Lines are appended with one `os.write` each on an O_APPEND descriptor (the events of one run share one), events before
the line of their run, under one lock: what a crash leaves behind without a run's line can only be the tail of
events.jsonl, and reopening the folder cuts it off.
"""

import contextlib
import errno
import fcntl
import os
from collections.abc import Iterable
from pathlib import Path
from shlex import quote
from threading import Lock
from types import TracebackType
from typing import Self

from pydantic import ValidationError
from pydantic_core import to_json

from harness.records.atomic import write_atomically
from harness.records.event import EventRecord
from harness.records.folder import ResultsFolder, ResultsFolderOccupied, ResultsUnwritable
from harness.records.group import GroupRecord
from harness.records.line import encode_line
from harness.records.manifest import Manifest
from harness.records.reader import Results, read, read_manifest
from harness.records.run import RunRecord


class Writer:
    """An open results folder. Methods may be called from any thread. Use `create` or `reopen`."""

    def __init__(self, folder: ResultsFolder, manifest: Manifest, *, kept_runs: int) -> None:
        self.folder = folder
        self.manifest = manifest
        self._kept_runs = kept_runs
        self._lock = Lock()
        self._runs = _append(folder, folder.runs)
        self._events = _append(folder, folder.events)
        try:
            fcntl.flock(self._runs, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.close()
            raise ResultsFolderOccupied(
                f"another faultlab is writing to {folder.path}", "wait for it to end, or choose another folder"
            ) from None

    @classmethod
    def create(cls, path: Path, manifest: Manifest) -> Self:
        """Begin a suite in a new or empty folder; the manifest is on disk before this returns.

        Raises ResultsFolderOccupied where a suite is there already, ResultsUnwritable.
        """
        folder = ResultsFolder(path)
        try:
            path.mkdir(parents=True, exist_ok=True)
            there = [p for p in (folder.manifest, folder.runs, folder.events, folder.groups) if p.exists()]
        except OSError as error:
            raise _unwritable(path, error, kept_runs=None) from error
        if there:
            raise ResultsFolderOccupied(
                f"{path} already holds a suite ({there[0].name})",
                f"resume it (faultlab run --resume {quote(str(path))}) or name another folder with --out",
            )
        _write_manifest(folder, manifest)
        return cls(folder, manifest, kept_runs=0)

    @classmethod
    def reopen(cls, path: Path) -> tuple[Self, Results]:
        """Lock a suite that was interrupted, and read it: in this order, so that nobody adds to what was read.

        Nothing is changed before `cut_unfinished`. Raises ResultsFolderOccupied, ResultsUnreadable, ResultsUnwritable.
        """
        folder = ResultsFolder(path)
        manifest = read_manifest(folder)
        try:
            writer = cls(folder, manifest, kept_runs=0)
        except ResultsUnwritable:
            read(path)  # where it cannot even be read, that is what to say
            raise
        try:
            results = read(path)
        except BaseException:
            writer.close()
            raise
        writer._kept_runs = len(results.tries)
        return writer, results

    def cut_unfinished(self, results: Results) -> None:
        """Remove what the interruption cut (a last line, events of a run without its line), and what was said of all
        runs together: there will be more of them. `results` are those of `reopen`. Raises ResultsUnwritable.
        """
        whole = frozenset((run.run_id, run.attempt) for run in results.tries)
        try:
            _cut_to(self._runs, _whole_lines(self.folder.runs))
            _cut_to(self._events, _claimed_events(self.folder.events, whole))
            self.folder.groups.unlink(missing_ok=True)
        except OSError as error:
            raise _unwritable(self.folder.path, error, kept_runs=self._kept_runs) from error

    def write(self, run: RunRecord, events: Iterable[EventRecord]) -> None:
        """Append a run that has ended, its events first. Raises ResultsUnwritable; then nothing of it is kept."""
        self.write_lines(run, b"".join(to_json(event) + b"\n" for event in events))

    def write_lines(self, run: RunRecord, events: bytes) -> None:
        """As `write`, with events that are lines already, as `harness.records.event.lines_of` makes them."""
        with self._lock:
            if events:
                self._append(self._events, events)
            self._append(self._runs, encode_line(run))
            self._kept_runs += 1

    def write_groups(self, groups: Iterable[GroupRecord]) -> None:
        """Say what all runs together amount to, in place of what was said before: whole or not at all.

        Raises ResultsUnwritable.
        """
        lines = b"".join(encode_line(group) for group in groups)
        if not lines and not self.folder.groups.exists():
            return
        with self._lock:
            try:
                write_atomically(self.folder.groups, lines)
            except OSError as error:
                raise _unwritable(self.folder.path, error, kept_runs=self._kept_runs) from error

    def create_log_folder(self, run_id: str, attempt: int) -> Path:
        """Make and name the log folder of a try. Raises ResultsUnwritable."""
        path = self.folder.log_folder(run_id, attempt)
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _unwritable(self.folder.path, error, kept_runs=self._kept_runs) from error
        return path

    def remove_empty_logs(self, run_id: str, attempt: int) -> None:
        """Remove the log folder of a try that left no log."""
        path = self.folder.log_folder(run_id, attempt)
        with contextlib.suppress(OSError):
            path.rmdir()
            if attempt > 1:
                path.parent.rmdir()

    def close(self) -> None:
        for descriptor in (self._runs, self._events):
            if descriptor >= 0:
                os.close(descriptor)
        self._runs = self._events = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _append(self, descriptor: int, data: bytes) -> None:
        end = os.fstat(descriptor).st_size
        try:
            written = os.write(descriptor, data)
            if written < len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            # A disk that fills up takes part of a line: without this, the next line would be glued to it.
            _cut_to(descriptor, end)
            raise _unwritable(self.folder.path, error, kept_runs=self._kept_runs) from error


def _append(folder: ResultsFolder, path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise _unwritable(folder.path, error, kept_runs=None) from error


def _write_manifest(folder: ResultsFolder, manifest: Manifest) -> None:
    try:
        write_atomically(folder.manifest, manifest.model_dump_json(indent=2).encode() + b"\n")
    except OSError as error:
        raise _unwritable(folder.path, error, kept_runs=None) from error


def _unwritable(path: Path, error: OSError, *, kept_runs: int | None) -> ResultsUnwritable:
    kept = "nothing was run" if kept_runs is None else f"{kept_runs} finished runs are kept there and readable"
    remedy = (
        f"make room, then resume: faultlab run --resume {quote(str(path))}"
        if error.errno in (errno.ENOSPC, errno.EDQUOT) and kept_runs is not None
        else "name a folder that can be written with --out"
    )
    return ResultsUnwritable(f"cannot write to {path}: {error.strerror or error}; {kept}", remedy)


def _cut_to(descriptor: int, size: int) -> None:
    if os.fstat(descriptor).st_size > size:
        os.ftruncate(descriptor, size)


def _whole_lines(path: Path) -> int:
    """The size of the file without a cut last line."""
    data = path.read_bytes()
    return data.rfind(b"\n") + 1


def _claimed_events(path: Path, whole: frozenset[tuple[str, int]]) -> int:
    """The size of events.jsonl up to the last event of a run that has its line."""
    data = path.read_bytes()
    end = data.rfind(b"\n") + 1
    while end:
        start = data.rfind(b"\n", 0, end - 1) + 1
        try:
            event = EventRecord.model_validate_json(data[start:end])
        except ValidationError:
            return end  # corrupt, not cut: left for the reader to quarantine
        if (event.run_id, event.attempt) in whole:
            return end
        end = start
    return 0
