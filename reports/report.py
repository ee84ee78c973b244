"""A report from beginning to end: a Spark for its records, and nothing left behind."""

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

from reports.errors import ArchiveNotWritable, NothingToReport
from reports.ingest.filesystems import HadoopFiles, LocalFiles, is_uri
from reports.ingest.folders import find_folders
from reports.jvm.class_archive import class_archive_for
from reports.jvm.runtime import find_java
from reports.result import ReportResult
from reports.session import size_for, spark_session

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportRequest:
    """What a report is to be made of, and how. `on`: the master of a cluster; `archive`: where to keep the records as
    Parquet files; `settings`: more settings for Spark."""

    folders: Sequence[str]
    out: Path | None = None
    on: str | None = None
    archive: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def target(self) -> Path:
        """Where the report goes. Raises NothingToReport where it would have to go behind a URI."""
        if self.out is None and self.folders and is_uri(self.folders[0]):
            raise NothingToReport(
                f"a report of {self.folders[0]} needs a folder on this machine", "name one with --out DIR"
            )
        return self.out or Path(self.folders[0])


def check_archive_target(archive: str) -> None:
    """An archive needs a new folder: files that are there already would be read as part of it.

    Raises ArchiveNotWritable. Nothing is known of places behind a URI before Java runs.
    """
    place = Path(archive)
    if not is_uri(archive) and os.path.lexists(place) and not (place.is_dir() and not any(place.iterdir())):
        there = "a folder with something in it" if place.is_dir() else "a file"
        raise ArchiveNotWritable(f"cannot write an archive to {archive}: there is {there}", "name a new folder")


def write_report(request: ReportRequest, *, progress: Progress) -> ReportResult:
    """See `reports.build`."""
    began_s = perf_counter()
    if not request.folders:
        raise NothingToReport("no results folder was named", "name a folder that `faultlab run` wrote")
    if request.archive is not None:
        check_archive_target(request.archive)
    found = {text: find_folders([text], LocalFiles()) for text in request.folders if not is_uri(text)}
    target = request.target if request.out or is_uri(request.folders[0]) else Path(found[request.folders[0]][0].name)
    here = [folder for own in found.values() for folder in own]
    size = size_for(here, request.folders, on=request.on)
    size_bytes = sum(folder.size_bytes for folder in here) if len(found) == len(set(request.folders)) else None
    java = find_java()
    archive = class_archive_for(java)
    without = f", {archive.lacking}" if archive.lacking else ""
    progress(f"starting Spark on {java}{f' for {request.on}' if request.on else ''}{without}")
    work = target / "report" / ".work"
    try:
        with spark_session(
            archive,
            work,
            size=size,
            size_bytes=size_bytes,
            on=request.on,
            settings=request.settings,
            progress=progress,
        ) as spark:
            from reports.pipeline import build_report

            found.update({text: find_folders([text], HadoopFiles(spark)) for text in request.folders if is_uri(text)})
            folders = {folder.name: folder for text in request.folders for folder in found[text]}
            return build_report(
                spark,
                [*folders.values()],
                size,
                out=target,
                archive=request.archive,
                progress=progress,
                began_s=began_s,
            )
    finally:
        shutil.rmtree(work, ignore_errors=True)
