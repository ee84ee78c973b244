"""One quiet, private Spark: started for a report, on this machine or for a cluster, and gone with it.

Spark gets explicit values for all that it would otherwise look up (host names, user configuration, environment), so
that a report does not depend on how the machine is set up for other Spark programs.
"""

import contextlib
import logging
import os
import re
import signal
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING

from py4j.protocol import Py4JError  # type: ignore[import-untyped]

from reports.errors import JavaFailed, prepare_command
from reports.ingest.filesystems import is_uri
from reports.ingest.folders import Folder
from reports.ingest.size import Size
from reports.jvm.class_archive import ClassArchive, spark_home
from reports.jvm.flags import flags_for
from reports.jvm.process import JavaNotStarted, JavaProcess, start_java
from reports.jvm.shim import home_for_spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOOPBACK = "127.0.0.1"

SETTINGS = {
    "spark.app.name": "faultlab report",
    "spark.master": "local[*]",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.catalogImplementation": "in-memory",
    # What follows from a filter is sought for each of a record's hundred checks: longer than reading it takes.
    "spark.sql.constraintPropagation.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    # Else what stands where a text belongs is spelt as in the file by one way of reading it, and anew by the other.
    "spark.sql.json.enableExactStringParsing": "false",
    # Above so many groups (128 by default) Spark sorts instead, which is slower for a few thousand.
    "spark.sql.objectHashAggregate.sortBased.fallbackThreshold": "10000",
}
ERROR_LINE = re.compile(r"error|exception|cannot|could not|too (small|large)|invalid|unrecogni[sz]ed", re.IGNORECASE)
LARGE_BYTES = 48 * 2**20
"""Records above this size are worth a Spark that takes longer to start and then works faster."""
SMALL_SETTINGS = {
    "spark.sql.shuffle.partitions": "1",
    # Some thousand lines: compiling code for each query takes longer than interpreting it.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
LARGE_SETTINGS = {
    "spark.sql.objectHashAggregate.sortBased.fallbackThreshold": "1000000",
}
CLUSTER_SETTINGS = {"spark.sql.adaptive.enabled": "true", "spark.sql.shuffle.partitions": "64"}
MEMORY_A_BYTE = 8
"""What grouping a byte of lines takes of Java's memory, at most."""
MAX_MEMORY_BYTES = 4 * 2**30
CGROUP_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
TOO_LARGE = re.compile(r"[Tt]otal size of serialized results of \d+ tasks \(([^)]+)\)")
KEPT_ON_CLUSTER = ("SPARK_CONF_DIR", "HADOOP_CONF_DIR")
"""Where a user says how a cluster's file systems are reached."""
MASTER = re.compile(r"spark://([^:,/]+):(\d+)$")
CONNECT_TIMEOUT_S = 5.0


def size_for(folders: Sequence[Folder], names: Sequence[str], *, on: str | None) -> Size:
    """The size behind a URI is unknown before Java runs: it is assumed to be large."""
    much = sum(folder.size_bytes for folder in folders) > LARGE_BYTES
    return Size.LARGE if much or on or any(is_uri(name) for name in names) else Size.SMALL


@contextlib.contextmanager
def spark_session(
    archive: ClassArchive,
    work: Path,
    *,
    size: Size = Size.SMALL,
    size_bytes: int | None = None,
    on: str | None = None,
    settings: Mapping[str, str] | None = None,
    archive_output: Path | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Iterator["SparkSession"]:
    """A session for the length of a `with` block, fit for records of a size; `work` takes its temporary files.

    `size_bytes` is how much of them there is, where that is known. `on` is the master of a cluster, `spark://host:port`;
    `settings` are added to ours, or stand in their place. A session that the process already has is lent, not stopped.
    `archive_output` makes Java write its class archive to that file when it ends. `progress` is called with
    what the user should know of the start.

    Raises JavaFailed with Java's own words where Spark does not start, or fails at its work.
    """
    active = active_session()
    if active is not None:
        yield active
        return
    address = LOOPBACK if on is None else local_address_for(on)
    work.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile("w+b") as log, without_py4j_log():
        fit = SMALL_SETTINGS if size is Size.SMALL else large_settings(size_bytes)
        every = {
            **SETTINGS,
            **fit,
            **({} if on is None else {**CLUSTER_SETTINGS, "spark.master": on}),
            "spark.driver.host": address,
            "spark.driver.bindAddress": address,
            **directory_settings(work),
            **java_options(archive, archive_output, size, work),
            **(settings or {}),
        }
        java, spark = start(archive, every, work, log, address, keep=KEPT_ON_CLUSTER if on else ())
        # What a user adds to Java's class path makes it reject any archive.
        if not (on or settings or archive_output) and archive.usable and not java.has_mapped(archive.usable):
            progress(
                f"Java rejected the class archive {archive.usable}, which is removed:"
                f" `{prepare_command()}` makes another"
            )
            archive.usable.unlink(missing_ok=True)
        try:
            yield spark
        except (Py4JError, ConnectionError) as error:
            raise failure(error, error_lines(log), archive, every, size_bytes) from error
        except KeyboardInterrupt:
            java.kill()
            raise
        finally:
            from reports.connection import ShutdownMode, stop

            # On this machine Java has nothing to hand over: it would only tidy up what is removed with its folder.
            stop(
                java,
                spark,
                mode=ShutdownMode.IMMEDIATE if not (on or settings or archive_output) else ShutdownMode.GRACEFUL,
            )


def active_session() -> "SparkSession | None":
    """The session that this process has already. Without PySpark imported there is none, and importing it is slow."""
    if "pyspark.sql" not in sys.modules:
        return None
    from pyspark.sql import SparkSession

    return SparkSession.getActiveSession()


def local_address_for(master: str) -> str:
    """This machine's address as the cluster sees it. Raises JavaFailed where there is no master."""
    found = MASTER.match(master)
    if found is None:
        raise JavaFailed(f"{master} is no master of a Spark cluster", "name one as spark://host:port")
    try:
        with socket.create_connection((found[1], int(found[2])), timeout=CONNECT_TIMEOUT_S) as connection:
            return str(connection.getsockname()[0])
    except OSError as error:
        raise JavaFailed(
            f"no Spark master answers at {master}: {error.strerror or error}",
            "start it, name another with --on, or leave --on out: a report needs no cluster",
        ) from error


def failure(
    error: Exception, log: str, archive: ClassArchive, settings: Mapping[str, str], size_bytes: int | None
) -> JavaFailed:
    """What ended a report: the memory that it needs and what there was, where that is the reason."""
    memory = settings.get("spark.driver.memory", "1g")
    much = "" if size_bytes is None else f" for records of {size_bytes / 2**20:,.0f} MiB"
    remedy = "report fewer folders at a time, or give it more: --spark spark.driver.memory=8g"
    tables = TOO_LARGE.search(str(error))
    if tables is not None:
        limit = settings.get("spark.driver.maxResultSize", "1g")
        return JavaFailed(
            f"a table of {tables[1]} is larger than Spark may hand over, {limit}",
            f"{remedy} --spark spark.driver.maxResultSize=4g",
        )
    if "OutOfMemoryError" in f"{log} {error}":
        return JavaFailed(f"{memory} of memory is too little for Java{much}", remedy)
    return JavaFailed(
        f"Spark failed on {archive.java}: {log or first_line(error)}",
        "if its disk is full, make room and try again; else try another Java (JAVA_HOME)",
    )


def large_settings(size_bytes: int | None) -> Mapping[str, str]:
    """As few tasks as possible, because each costs planning, yet so many that what all cores group at a time fits into
    memory."""
    memory, cores = driver_memory_bytes(), len(os.sched_getaffinity(0))
    at_a_time = memory // MEMORY_A_BYTE // cores
    partitions = 2 * cores if size_bytes is None else max(cores, -(-size_bytes // at_a_time))
    return {
        **LARGE_SETTINGS,
        "spark.sql.shuffle.partitions": str(partitions),
        "spark.driver.memory": f"{memory // 2**20}m",
        "spark.driver.maxResultSize": f"{memory // 2 // 2**20}m",
    }


def driver_memory_bytes() -> int:
    """Half of the memory that this process may use, up to 4 GiB: records are kept in it between the tables."""
    limits = [int(text) for file in CGROUP_LIMITS if file.is_file() and (text := file.read_text().strip()).isdecimal()]
    there = min([os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"), *limits])
    return min(MAX_MEMORY_BYTES, max(there // 2, 2**30))


def start(
    archive: ClassArchive,
    settings: Mapping[str, str],
    work: Path,
    log: IO[bytes],
    address: str,
    *,
    keep: Sequence[str],
) -> tuple[JavaProcess, "SparkSession"]:
    on_interrupt = signal.getsignal(signal.SIGINT)
    java = None
    try:
        with spark_environment(archive, work, address, keep):
            java = start_java(spark_home(), settings, os.environ, log)
            from reports.connection import open_session

            return java, open_session(java, settings)
    except (JavaNotStarted, Py4JError, ConnectionError) as error:
        raise JavaFailed(
            f"{archive.java} ({archive.java.home}) did not start Spark: {error_lines(log) or error}",
            f"run `{prepare_command()}` to prepare it again, or set JAVA_HOME to another Java",
        ) from error
    except BaseException:
        if java is not None:
            java.kill()
        raise
    finally:
        if isinstance(on_interrupt, signal.Handlers) or callable(on_interrupt):
            with contextlib.suppress(ValueError):  # only the main thread may, and only there Spark replaced it
                signal.signal(signal.SIGINT, on_interrupt)


def directory_settings(work: Path) -> Mapping[str, str]:
    return {"spark.local.dir": str(work), "spark.sql.warehouse.dir": str(work / "warehouse")}


def java_options(archive: ClassArchive, archive_output: Path | None, size: Size, work: Path) -> Mapping[str, str]:
    flags = [*flags_for(size, work)]
    if archive_output is not None:
        flags.append(archive.make_flag(archive_output))
    else:
        flags += archive.use_flags
    return {"spark.driver.extraJavaOptions": " ".join(quoted(flag) for flag in flags)}


def quoted(flag: str) -> str:
    """As Spark's launcher splits options: double quotes, with a backslash before what is special inside them."""
    return '"' + flag.replace("\\", "\\\\").replace('"', '\\"') + '"'


@contextlib.contextmanager
def spark_environment(archive: ClassArchive, work: Path, address: str, keep: Sequence[str] = ()) -> Iterator[None]:
    """The environment that Spark's start scripts see: ours instead of the user's but for `keep`, and put back
    afterwards."""
    before = dict(os.environ)
    temporary_before = tempfile.tempdir
    for name in before:
        if name.startswith(("SPARK_", "PYSPARK_", "HADOOP_", "YARN_")):
            del os.environ[name]
    os.environ.update({**variables(archive, address), **{name: before[name] for name in keep if before.get(name)}})
    tempfile.tempdir = str(work)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
        tempfile.tempdir = temporary_before


def variables(archive: ClassArchive, address: str) -> Mapping[str, str]:
    home = spark_home()
    return {
        "JAVA_HOME": str(home_for_spark(archive.java, archive.folder)),
        "SPARK_HOME": str(home),
        # A folder that does not exist: no user's configuration, and class archives refuse folders with files in them.
        "SPARK_CONF_DIR": str(home / "no-configuration"),
        "SPARK_LOCAL_IP": address,
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
    }


@contextlib.contextmanager
def without_py4j_log() -> Iterator[None]:
    """py4j logs a traceback to the root logger when Java dies or the user interrupts: the error itself reports both."""

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


def error_lines(log: IO[bytes]) -> str:
    """The last lines of Java's log that look like errors; empty where there are none."""
    log.seek(0)
    lines = [line.strip() for line in log.read().decode("utf-8", "replace").splitlines()]
    return " / ".join([line for line in lines if ERROR_LINE.search(line) and "log level" not in line][-3:])[:500]


def first_line(error: Exception) -> str:
    """Of an error that Java survived: what it was."""
    return next(iter(str(error).splitlines()), "") or "it ended without a word"
