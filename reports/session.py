"""One small, quiet, private Spark: started for a report on this machine alone, and gone with it.

Spark is told everything that it would otherwise look up (host names, user configuration, environment variables), so
that a report does not depend on how the machine is set up for other Spark programs.
"""

import contextlib
import logging
import os
import re
import signal
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession

from reports.errors import JavaFailed
from reports.jvm.archive import FLAGS, LARGE, SMALL, Archive, spark_home
from reports.jvm.process import JavaProcess, NotStarted, start_java
from reports.jvm.shim import home_for_spark

LOOPBACK = "127.0.0.1"

SETTINGS = {
    "spark.app.name": "faultlab report",
    "spark.master": "local[2]",
    "spark.driver.host": LOOPBACK,
    "spark.driver.bindAddress": LOOPBACK,
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.session.timeZone": "UTC",
    # Above so many groups (128 by default) Spark sorts instead, which is slower for a few thousand.
    "spark.sql.objectHashAggregate.sortBased.fallbackThreshold": "10000",
}
TROUBLE = re.compile(r"error|exception|cannot|could not|too (small|large)|invalid|unrecogni[sz]ed", re.IGNORECASE)
LARGE_BYTES = 64 * 2**20
"""Records above this size are worth a Spark that takes longer to start and then works faster."""
SMALL_SETTINGS = {
    # Some thousand lines: compiling code for each query takes longer than interpreting it.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
LARGE_SETTINGS = {"spark.driver.memory": "4g", "spark.sql.shuffle.partitions": "4"}


@contextlib.contextmanager
def spark_session(
    archive: Archive, work: Path, *, size_bytes: int = 0, make_archive: Path | None = None
) -> Iterator[SparkSession]:
    """A session for the length of a `with` block, fit for records of a size; `work` takes its temporary files.

    A session that the process already has is lent, not stopped. `make_archive` makes Java write its class archive to
    that file when it ends. Raises JavaFailed with Java's own words where Spark does not start, or fails at its work.
    """
    active = SparkSession.getActiveSession()
    if active is not None:
        yield active
        return
    work.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile("w+b") as log, without_py4j_log():
        large = size_bytes > LARGE_BYTES
        options = java_options(archive, make_archive, large=large)
        settings = {**SETTINGS, **(LARGE_SETTINGS if large else SMALL_SETTINGS), **places(work), **options}
        java, context = start(archive, settings, work, log)
        try:
            yield SparkSession(context)
        except (Py4JError, ConnectionError) as error:
            raise JavaFailed(
                f"Spark failed on {archive.java}: {last_words(log) or 'it ended without a word'}",
                "if it ran out of memory or disk, make room and try again; else try another Java (JAVA_HOME)",
            ) from error
        except KeyboardInterrupt:
            java.kill()
            raise
        finally:
            stop(java, context)


def start(
    archive: Archive, settings: Mapping[str, str], work: Path, log: IO[bytes]
) -> tuple[JavaProcess, SparkContext]:
    on_interrupt = signal.getsignal(signal.SIGINT)
    java = None
    try:
        with surroundings(archive, work):
            java = start_java(spark_home(), settings, os.environ, log)
            return java, connected(java, settings)
    except (NotStarted, Py4JError, ConnectionError) as error:
        raise JavaFailed(
            f"{archive.java} ({archive.java.home}) did not start Spark: {last_words(log) or error}",
            "run `python -m reports.jvm` to prepare it anew, or set JAVA_HOME to another Java",
        ) from error
    except BaseException:
        if java is not None:
            java.kill()
        raise
    finally:
        if isinstance(on_interrupt, signal.Handlers) or callable(on_interrupt):
            with contextlib.suppress(ValueError):  # only the main thread may, and only there Spark replaced it
                signal.signal(signal.SIGINT, on_interrupt)


def connected(java: JavaProcess, settings: Mapping[str, str]) -> SparkContext:
    os.environ.update(PYSPARK_GATEWAY_PORT=str(java.port), PYSPARK_GATEWAY_SECRET=java.secret)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas")
        return SparkContext(conf=SparkConf(loadDefaults=False).setAll([*settings.items()]))


def stop(java: JavaProcess, context: SparkContext) -> None:
    """End Spark and its Java, and wait for it: nothing outlives the report."""
    gateway = context._gateway
    try:
        # A Java that died has nothing left to stop.
        with contextlib.suppress(Py4JError, OSError), warnings.catch_warnings(action="ignore"):
            context.stop()
        if gateway is not None:
            with contextlib.suppress(Py4JError, OSError):
                gateway.shutdown()
        java.end()
    except BaseException:
        java.kill()
        raise
    finally:
        SparkContext._active_spark_context = None
        SparkContext._gateway = None
        SparkContext._jvm = None


def places(work: Path) -> Mapping[str, str]:
    return {"spark.local.dir": str(work), "spark.sql.warehouse.dir": str(work / "warehouse")}


def java_options(archive: Archive, make_archive: Path | None, *, large: bool) -> Mapping[str, str]:
    flags = [*(LARGE if large else SMALL), *FLAGS]
    if make_archive is not None:
        flags.append(archive.make_flag(make_archive))
    elif archive.exists:
        flags.append(archive.use_flag)
    return {"spark.driver.extraJavaOptions": " ".join(quoted(flag) for flag in flags)}


def quoted(flag: str) -> str:
    """As Spark's launcher splits options: double quotes, with a backslash before what is special inside them."""
    return '"' + flag.replace("\\", "\\\\").replace('"', '\\"') + '"'


@contextlib.contextmanager
def surroundings(archive: Archive, work: Path) -> Iterator[None]:
    """The environment that Spark's start scripts see: ours instead of the user's, and put back afterwards."""
    before = dict(os.environ)
    temporary_before = tempfile.tempdir
    for name in before:
        if name.startswith(("SPARK_", "PYSPARK_", "HADOOP_", "YARN_")):
            del os.environ[name]
    os.environ.update(variables(archive))
    tempfile.tempdir = str(work)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
        tempfile.tempdir = temporary_before


def variables(archive: Archive) -> Mapping[str, str]:
    home = spark_home()
    return {
        "JAVA_HOME": str(home_for_spark(archive.java, archive.folder)),
        "SPARK_HOME": str(home),
        # A folder that does not exist: no user's configuration, and class archives refuse folders with files in them.
        "SPARK_CONF_DIR": str(home / "no-configuration"),
        "SPARK_LOCAL_IP": LOOPBACK,
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
    }


@contextlib.contextmanager
def without_py4j_log() -> Iterator[None]:
    """py4j logs a traceback to the root logger when Java dies or the user interrupts: both are told by their error."""

    def not_py4j(record: logging.LogRecord) -> bool:
        return record.module not in ("java_gateway", "clientserver")

    root, silent = logging.getLogger(), logging.NullHandler()
    root.addFilter(not_py4j)
    root.addHandler(silent)  # or `logging.exception` would set up one that prints
    try:
        yield
    finally:
        root.removeHandler(silent)
        root.removeFilter(not_py4j)


def last_words(log: IO[bytes]) -> str:
    """What Java said of its end; nothing where it only said that it was at work."""
    log.seek(0)
    lines = [line.strip() for line in log.read().decode("utf-8", "replace").splitlines()]
    return " / ".join([line for line in lines if TROUBLE.search(line) and "log level" not in line][-3:])[:500]
