"""Building real clients with Go into the user's cache; what is built already is left alone."""

import json
import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from harness.building import ReportProgress, StepFailed, build_folder, cache, go_environment, go_toolchains, run_step
from harness.realclients.catalogue import RealClient, RealClientMissing

_SMOKE_TEST_LIMIT_S = 20


def build(clients: Sequence[RealClient], report: ReportProgress) -> None:
    """Build those that are not. `report` gets a line at each stage. Interrupted, it leaves what was finished, and
    nothing
    else; what it needs is downloaded into a folder that is deleted. Raises RealClientMissing, KeyboardInterrupt.
    """
    folder = cache() / "clients"
    if all(client.built for client in clients):
        return
    try:
        with build_folder(folder) as build_dir:
            for client in clients:
                # The process that held the lock before may have built it.
                if not client.built:
                    _build(client, build_dir, report)
    except OSError as exc:
        raise RealClientMissing(
            f"nothing can be built in {folder} ({exc.strerror or exc})",
            "make room there, or let XDG_CACHE_HOME name another folder",
        ) from exc


def _build(client: RealClient, build_dir: Path, report: ReportProgress) -> None:
    def said(text: str) -> None:
        report(f"{client}: {text}")

    failures = []
    for go in go_toolchains(build_dir, said, at_least=_go_release(client)):
        try:
            program = go.make()
            said(f"building with {go.name}")
            built = _compile(client, program, build_dir, said)
        except StepFailed as exc:
            failures.append(f"{go.name}: {exc}")
            continue
        fault = _unusable(built, client)
        if fault is None:
            built.replace(client.program)
            said(f"built, {client.program}")
            return
        failures.append(f"{go.name}: the built program {fault}")
    raise RealClientMissing(
        f"the real {client.name} {client.version} could not be built: {'; '.join(failures)}",
        "see that pip and Go reach their package indexes (their own settings: PIP_INDEX_URL, GOPROXY)",
    )


def _compile(client: RealClient, go: Path, build_dir: Path, report: ReportProgress) -> Path:
    built = build_dir / f"{client.name}-{client.version}"
    run_step(
        [str(go), "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-tags", _tag(client),
         f"-modfile={client.modules}", "-o", str(built), "."],
        "go build",
        report,
        go_environment(build_dir),
        folder=client.folder,
    )  # fmt: skip
    return built


def _tag(client: RealClient) -> str:
    """What sources that only some releases can have ask for: v1_27_2."""
    return f"v{client.version.replace('.', '_')}"


def _go_release(client: RealClient) -> str:
    """The Go that the release's module file asks for."""
    asked = re.search(r"^go (\d+\.\d+)", client.modules.read_text(), re.MULTILINE)
    assert asked is not None, f"{client.modules} has no line `go`"
    return asked[1]


def _unusable(program: Path, client: RealClient) -> str | None:
    """What is wrong with a built program, as the end of a sentence: it has to be ready, and to end with its stdin."""
    launch = {"protocol": 1, "client": client.name, "version": client.version, "bootstrap": [], "settings": {}}
    environment = {**os.environ, "FAULTLAB_SUBJECT": json.dumps(launch)}
    try:
        done = subprocess.run(
            [program],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SMOKE_TEST_LIMIT_S,
            env=environment,
            check=False,
        )
        ready = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired) as exc:
        return f"is no subject ({exc})"
    if done.returncode != 0 or ready.get("ev") != "ready":
        return f"is no subject (it ended with {done.returncode} and said {done.stdout[:80]!r})"
    return None
