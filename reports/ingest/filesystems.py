"""Where result folders are: on this machine, or wherever a URI says (`s3a://`, `hdfs://`, `file://`).

Folders of this machine are listed without Java, so that a wrong name is reported before Java starts; Hadoop reads
everything behind a URI, with the file system that it has for the scheme.
"""

import fcntl
import glob
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]

from reports.errors import NothingToReport

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEME = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*:/")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A file or folder inside a folder; `uri` is what Spark calls it."""

    name: str
    uri: str
    size_bytes: int
    is_folder: bool
    problem: str = ""
    """Why it cannot be read, where that is known."""


class FileSystem(Protocol):
    """What finding records asks of a file system. Every method raises NothingToReport where it is refused."""

    def folders(self, text: str) -> Sequence[str]:
        """The folder of that name; else those that match it as a pattern, sorted."""

    def entries(self, folder: str) -> Sequence[Entry]:
        """What is in the folder, by name; nothing where it is none."""

    def read(self, uri: str, *, last_bytes: int | None = None) -> bytes:
        """The file, or its end."""

    def is_being_written(self, uri: str) -> bool:
        """Whether a suite is at work and holds the file."""


def is_uri(text: str) -> bool:
    return SCHEME.match(text) is not None


class LocalFiles:
    """Folders of this machine, by their names."""

    def folders(self, text: str) -> Sequence[str]:
        if Path(text).exists():
            return [text] if Path(text).is_dir() else []
        return sorted(found for found in glob.glob(text) if Path(found).is_dir())  # noqa: PTH207 - keeps the form given

    def entries(self, folder: str) -> Sequence[Entry]:
        path = Path(folder)
        try:
            found = sorted(path.iterdir()) if path.is_dir() else []
            return [self._entry(one) for one in found]
        except OSError as error:
            raise unreadable_error(folder, error.strerror) from error

    def _entry(self, path: Path) -> Entry:
        is_folder = path.is_dir()
        size_bytes = path.stat().st_size if path.exists() and not is_folder else 0
        where = os.path.realpath(path)  # Path.resolve fails for a link that leads to itself
        return Entry(
            name=path.name, uri=f"file:{where}", size_bytes=size_bytes, is_folder=is_folder, problem=problem_of(path)
        )

    def read(self, uri: str, *, last_bytes: int | None = None) -> bytes:
        path = Path(uri.removeprefix("file:"))
        try:
            with path.open("rb") as file:
                if last_bytes is not None:
                    file.seek(max(0, path.stat().st_size - last_bytes))
                return file.read()
        except OSError as error:
            raise unreadable_error(str(path), error.strerror) from error

    def is_being_written(self, uri: str) -> bool:
        """A suite holds its runs.jsonl locked. The look takes a shared lock and lets go of it at once."""
        try:
            with Path(uri.removeprefix("file:")).open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False


def problem_of(path: Path) -> str:
    if not path.exists():
        return "a link that leads nowhere"
    if path.is_dir() or path.is_file():
        return ""
    return "no file: a pipe, a socket or a device"


class HadoopFiles:
    """Folders behind URIs, by Hadoop's file systems in a running Spark."""

    def __init__(self, spark: "SparkSession") -> None:
        self._jvm: Any = spark._jvm
        self._settings: Any = spark._jsc.hadoopConfiguration()

    def folders(self, text: str) -> Sequence[str]:
        with translated_errors(text):
            found = self._system(text).globStatus(self._path(text)) or []
            return sorted(str(one.getPath().toString()) for one in found if one.isDirectory())

    def entries(self, folder: str) -> Sequence[Entry]:
        with translated_errors(folder):
            found = self._system(folder).listStatus(self._path(folder))
            return sorted((self._entry(one) for one in found), key=lambda entry: entry.name)

    def _entry(self, status: Any) -> Entry:
        path = status.getPath()
        return Entry(
            name=path.getName(),
            uri=path.toString(),
            size_bytes=status.getLen(),
            is_folder=status.isDirectory(),
        )

    def read(self, uri: str, *, last_bytes: int | None = None) -> bytes:
        with translated_errors(uri):
            system, path = self._system(uri), self._path(uri)
            stream = system.open(path)
            try:
                if last_bytes is not None:
                    stream.seek(max(0, system.getFileStatus(path).getLen() - last_bytes))
                return bytes(self._jvm.org.apache.commons.io.IOUtils.toByteArray(stream))
            finally:
                stream.close()

    def is_being_written(self, uri: str) -> bool:
        """Nobody can be asked: what is there when it is read is reported."""
        return False

    def _path(self, uri: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(uri)

    def _system(self, uri: str) -> Any:
        return self._path(uri).getFileSystem(self._settings)


class translated_errors:  # noqa: N801 - reads as a sentence: with refused(uri)
    """Turns what Hadoop's file system says into NothingToReport."""

    def __init__(self, where: str) -> None:
        self._where = where

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Py4JJavaError):
            said = str(error.java_exception.getMessage() or error.java_exception.getClass().getName())
            raise unreadable_error(self._where, said.splitlines()[0]) from error


def unreadable_error(where: str, problem: str | None) -> NothingToReport:
    scheme = where.partition(":")[0]
    if problem and ("ClassNotFoundException" in problem or "No FileSystem for scheme" in problem):
        return NothingToReport(
            f"cannot read {where}: this Spark has no file system for {scheme}://",
            f"give it one: --spark spark.jars=FILES, or copy the folder to this machine ({problem})",
        )
    return NothingToReport(f"cannot read {where}: {problem}", "check its name and who may read it")
