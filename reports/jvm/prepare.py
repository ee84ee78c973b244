"""Preparing Java for Spark once, so that every report starts quickly: the home that Spark gets, and its archive."""

import tempfile
from collections.abc import Callable
from pathlib import Path

from reports.jvm.class_archive import ClassArchive, class_archive_for, delete_old_archives
from reports.jvm.runtime import find_java
from reports.jvm.shim import home_for_spark

Progress = Callable[[str], None]


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
    """Make a report of synthetic records and let Java archive the classes it loaded. An interruption leaves nothing."""
    from reports.jvm.synthetic_suite import SyntheticBlackhole, write_lines, write_suite
    from reports.pipeline import make_report
    from reports.session import spark_session

    archive.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".making-", dir=archive.folder) as name:
        folder = Path(name)
        unfinished = folder / archive.file.name
        suite = folder / "suite"
        suite.mkdir()
        cells = [SyntheticBlackhole(brokers=2), SyntheticBlackhole(retries=0)]
        write_suite(suite, cells, repeats=2)
        write_lines(suite / "agreement.jsonl", [cell.agreement() for cell in cells])
        with (suite / "runs.jsonl").open("a", encoding="utf-8") as runs:
            runs.write("cut sho")
        with spark_session(archive, folder / "work", archive_output=unfinished) as spark:
            make_report(spark, [suite], out=suite, progress=lambda line: progress(f"class archive: {line}"))
            progress("class archive: writing")
        if unfinished.is_file():
            unfinished.replace(archive.file)
    delete_old_archives(archive.folder, archive.file)
