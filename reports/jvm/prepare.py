"""Preparing Java for Spark once, so that every report starts quickly: the home that Spark gets, and its archive."""

import tempfile
from collections.abc import Callable
from pathlib import Path

from reports.jvm.class_archive import ClassArchive, class_archive_for, delete_old_archives
from reports.jvm.runtime import find_java
from reports.jvm.shim import home_for_spark

Progress = Callable[[str], None]
REHEARSAL = Path(__file__).with_name("rehearsal")
"""Records of every kind, of two runs, and a line that was cut off: what is asked of them takes the same classes as what
is asked of many."""


def prepare(progress: Progress) -> Path:
    """Find Java, make what is missing, and return a file that lasts as long as this preparation does.

    Raises ReportError where there is no Java, no Spark, or Spark does not start; OSError where the cache cannot be
    written.
    """
    java = find_java()
    archive = class_archive_for(java)
    home = home_for_spark(java, archive.folder)
    progress(f"{java} ({java.home})")
    if not archive.exists:
        progress("class archive: rehearsing a report, about 30 s, once for this Java, this Spark and these tables")
        training_run(archive, progress)
    if not archive.exists:
        progress("class archive: this Java cannot make one; reports work without, some seconds slower")
        return home / "bin" / "java"
    progress(f"class archive: {archive.file.stat().st_size / 1e6:.0f} MB")
    return archive.file


def training_run(archive: ClassArchive, progress: Progress) -> None:
    """Make a report of the records in REHEARSAL and let Java archive the classes it loaded. An interruption leaves
    nothing."""
    from reports.pipeline import make_report
    from reports.session import spark_session

    archive.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".making-", dir=archive.folder) as name:
        folder = Path(name)
        unfinished = folder / archive.file.name
        with spark_session(archive, folder / "work", archive_output=unfinished) as spark:
            make_report(spark, [REHEARSAL], out=folder, progress=lambda line: progress(f"class archive: {line}"))
            progress("class archive: writing")
        if unfinished.is_file():
            unfinished.replace(archive.file)
    delete_old_archives(archive.folder, archive.file)
