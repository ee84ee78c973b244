"""Records kept as Parquet files: what counts in a report, in one folder for many suites, quick to read again."""

from pathlib import Path

from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame

from harness.records.folder import AGREEMENT, EVENTS, GROUPS, RUNS
from reports.errors import ArchiveNotWritable
from reports.ingest.filesystems import is_uri
from reports.ingest.folders import MANIFESTS
from reports.ingest.lines import SUITE
from reports.ingest.records import MODELS, Records


def write_archive(records: Records, target: str) -> None:
    """Write runs (all their tries), the events of the last ones, groups, agreement and manifests to a new folder.

    `faultlab report` reads it as any results folder. Raises ArchiveNotWritable.
    """
    uri = (target if is_uri(target) else f"file:{Path(target).resolve()}").rstrip("/")
    kinds = {RUNS: records.tries, EVENTS: records.events, GROUPS: records.groups, AGREEMENT: records.agreement}
    try:
        for kind, rows in kinds.items():
            model_columns(rows, kind).write.mode("error").parquet(f"{uri}/{kind.replace('.jsonl', '.parquet')}")
        write_manifests(records, f"{uri}/{MANIFESTS}")
    except (AnalysisException, Py4JJavaError) as error:
        said = str(error).splitlines()[0]
        raise ArchiveNotWritable(f"cannot write an archive to {target}: {said}", "name a new folder") from error


def model_columns(rows: DataFrame, kind: str) -> DataFrame:
    """The model's columns alone: folders have other numbers in another report."""
    assert SUITE not in MODELS[kind].model_fields
    return rows.select([f"`{name}`" for name in MODELS[kind].model_fields])


def write_manifests(records: Records, uri: str) -> None:
    lines = "".join(f"{manifest.model_dump_json()}\n" for folder in records.folders for manifest in folder.manifests)
    jvm, context = records.spark._jvm, records.spark._jsc
    assert jvm is not None
    path = jvm.org.apache.hadoop.fs.Path(uri)
    stream = path.getFileSystem(context.hadoopConfiguration()).create(path, False)
    try:
        stream.write(bytearray(lines.encode()))
    finally:
        stream.close()
