"""An archive of the classes that a report loads: with it Spark starts twice as fast.

Made once for a runtime, a set of jars and faultlab's tables, in a training run: a report of synthetic records. Java 25
keeps an ahead-of-time cache (JEP 514), older ones a dynamic class data archive (JEP 350). A runtime checks an archive
itself and ignores one that does not fit.
"""

import hashlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from harness import records
from reports.errors import ReportsNotInstalled, prepare_command
from reports.jvm.cache import cache_folder
from reports.jvm.flags import COMMON, SMALL
from reports.jvm.runtime import Java

FIRST_WITH_AOT_CACHE = 25
MAX_ARCHIVES = 3
"""Archives that are kept, those of other runtimes, jars or tables too: 160 MB each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassArchive:
    """The archive for one runtime and one set of jars; `folder` is its place in the cache, keyed by both.
    `code_hash`: of what faultlab's tables ask of them."""

    java: Java
    folder: Path
    code_hash: str

    @property
    def file(self) -> Path:
        return self.folder / f"spark-{self.code_hash}{self._suffix}"

    @property
    def exists(self) -> bool:
        return self.file.is_file()

    @property
    def usable(self) -> Path | None:
        """The archive to use; where it was never made, the newest one that earlier tables took: most classes are the
        same."""
        return self.file if self.exists else newest(self.folder.glob(f"spark-*{self._suffix}"))

    @property
    def use_flags(self) -> tuple[str, ...]:
        """What makes Java use it. Nothing where there is none."""
        name = "AOTCache" if self.java.major >= FIRST_WITH_AOT_CACHE else "SharedArchiveFile"
        return () if self.usable is None else (f"-XX:{name}={self.usable}",)

    @property
    def lacking(self) -> str:
        """What the user may do for faster reports; empty where the archive fits."""
        if self.exists:
            return ""
        there = "with the class archive of other tables" if self.use_flags else "without a class archive"
        return f"{there} (`{prepare_command()}` makes one that fits: faster reports)"

    @property
    def _suffix(self) -> str:
        return ".aot" if self.java.major >= FIRST_WITH_AOT_CACHE else ".jsa"

    def make_flag(self, file: Path) -> str:
        """The flag that makes Java write the archive to `file` when it exits."""
        name = "AOTCacheOutput" if self.java.major >= FIRST_WITH_AOT_CACHE else "ArchiveClassesAtExit"
        return f"-XX:{name}={file}"


def class_archive_for(java: Java, environ: Mapping[str, str] = os.environ) -> ClassArchive:
    """Where the archive of this runtime and the installed Spark is, or would be."""
    return ClassArchive(java=java, folder=cache_folder(environ) / fingerprint(java), code_hash=code_hash())


def spark_home() -> Path:
    """Where pip put Spark. Raises ReportsNotInstalled."""
    spec = find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise ReportsNotInstalled(["pyspark"])
    return Path(spec.origin).parent


def fingerprint(java: Java) -> str:
    """Changes with all that would make Java refuse the archive: runtime, jars, flags."""
    digest = hashlib.sha256()
    library = java.home / "lib" / "server" / "libjvm.so"
    jars = sorted((spark_home() / "jars").glob("*.jar"))
    for path in (library, *jars):
        if path.is_file():
            state = path.stat()
            digest.update(f"{path}\0{state.st_size}\0{state.st_mtime_ns}\n".encode())
    digest.update(f"{java.home}\0{java.version}\0{' '.join((*SMALL, *COMMON))}".encode())
    return digest.hexdigest()[:16]


def code_hash() -> str:
    """Changes with the code that asks something of Spark, and with the records that it reads: other queries take other
    classes."""
    here = Path(__file__).parents[1]
    asking = [*here.glob("*.py"), *here.glob("ingest/*.py"), *here.glob("tables/*.py"), *here.glob("jvm/*.py")]
    digest = hashlib.sha256()
    for path in sorted([*asking, *Path(records.__file__).parent.glob("*.py")]):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def newest(files: Iterable[Path]) -> Path | None:
    return max(files, key=lambda file: file.stat().st_mtime_ns, default=None)


def delete_old_archives(folder: Path, kept: Path) -> None:
    """Keep `kept` and the newest archives beside it, in all folders of the cache; each takes 160 MB."""
    found = [path for path in folder.parent.glob("*/spark*") if path.suffix in {".aot", ".jsa"} and path != kept]
    for path in sorted(found, key=lambda file: file.stat().st_mtime_ns, reverse=True)[MAX_ARCHIVES - 1 :]:
        path.unlink(missing_ok=True)
