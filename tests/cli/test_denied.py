"""Protects users on machines that refuse something: what was refused, what to do, the right exit code, nothing lost."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import COMMAND, Done, environment, faultlab, write_scenario

from harness.records.reader import read

pytestmark = pytest.mark.ci

DENY = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"'
UNSHARE = shutil.which("unshare")


def ordinarily(*arguments: str, cwd: Path) -> Done:
    """As an ordinary user, who owns his files and is held by their modes.

    Root becomes one in a user namespace without a mapping: no capability of his reaches a file.
    """
    if os.geteuid() != 0:
        return faultlab(*arguments, cwd=cwd)
    if UNSHARE is None:
        pytest.skip("root cannot become an ordinary user: unshare is not installed")
    return faultlab(*arguments, cwd=cwd, before=(UNSHARE, "--user"))


@pytest.mark.cell
def test_an_unreadable_folder_and_file_are_named(tmp_path: Path) -> None:
    path = write_scenario(tmp_path / "closed")
    (tmp_path / "closed").chmod(0)
    try:
        for command in ("run", "validate", "list"):
            done = ordinarily(command, "closed", cwd=tmp_path)
            assert done.code == 4
            assert done.err.startswith("closed:1:1: error[unreadable]: this folder cannot be read"), done.err
    finally:
        (tmp_path / "closed").chmod(0o755)
    path.chmod(0)
    done = ordinarily("run", "closed", cwd=tmp_path)
    assert done.code == 4
    assert done.err.startswith("closed/dark.scenario.yaml:1:1: error[unreadable]: this file cannot be read")


@pytest.mark.cell
def test_results_that_cannot_be_written_or_read_are_named(tmp_path: Path) -> None:
    write_scenario(tmp_path)
    (tmp_path / "shut").mkdir(mode=0o555)
    done = ordinarily("run", ".", "--env", "sim", "--out", "shut/r", cwd=tmp_path)
    assert done.code == 3
    assert done.err.startswith("error: cannot write to shut/r: Permission denied; nothing was run\n  name a folder")
    assert faultlab("run", ".", "--env", "sim", "--out", "r", cwd=tmp_path).code == 0
    (tmp_path / "r" / "runs.jsonl").chmod(0)
    done = ordinarily("run", "--resume", "r", cwd=tmp_path)
    assert done.code == 4
    assert "cannot read r/runs.jsonl: Permission denied" in done.err


@pytest.mark.cell
@pytest.mark.skipif(UNSHARE is None, reason="unshare is not installed")
def test_without_namespaces_auto_takes_sim_and_says_so_and_local_says_why(tmp_path: Path) -> None:
    write_scenario(tmp_path)
    denied = ["unshare", "--user", "--map-root-user", "sh", "-c", DENY, "sh", *COMMAND]

    def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [*denied, *arguments],
            cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=100, check=False,
        )  # fmt: skip

    auto = run("run", ".")
    assert auto.returncode == 0, auto.stdout + auto.stderr
    assert auto.stdout.startswith("sim instead of local: ")
    assert "1 scenario, 1 run, sim, 1 cell, seed 7" in auto.stdout
    local = run("run", ".", "--env", "local", "--out", "r")
    assert local.returncode == 3
    assert local.stderr.startswith("error: ")
    assert "namespace" in local.stderr
    assert "Traceback" not in local.stderr
    assert "--env sim" in local.stderr
    assert not (tmp_path / "r").exists()
    shutil.copy(Path(__file__).parents[2] / "docs" / "examples" / "own-program.scenario.yaml", tmp_path)
    own = run("run", "own-program.scenario.yaml", "--env", "local", "--out", "r")
    assert own.returncode == 3
    assert "namespace" in own.stderr
    assert "--env sim" not in own.stderr, "no program can be simulated"
    check = run("clients", "check", "--only", "ready", "true")
    assert check.returncode == 3
    assert "namespace" in check.stderr
    assert "--env" not in check.stderr, "it has no such option"
    doctor = run("doctor")
    assert doctor.returncode == 3
    assert "missing  namespaces" in doctor.stdout
    assert "remedy: " in doctor.stdout
    assert "local cannot run here: --env auto takes sim" in doctor.stdout


FULL = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
def checked(result):
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
uid, gid = os.getuid(), os.getgid()
checked(libc.unshare(0x10000000 | 0x00020000))  # a user and a mount namespace of its own
open("/proc/self/setgroups", "w").write("deny")
open("/proc/self/uid_map", "w").write(f"0 {uid} 1")
open("/proc/self/gid_map", "w").write(f"0 {gid} 1")
checked(libc.mount(b"small", sys.argv[1].encode(), b"tmpfs", 0, f"size={sys.argv[2]}".encode()))
os.execv(sys.executable, [sys.executable, "-c", KEEP, *sys.argv[1:]])
"""
KEEP = """
import shutil, subprocess, sys
small, size, kept, *command = sys.argv[1:]
done = subprocess.run([sys.executable, *command])
shutil.copytree(small, kept)  # the mount ends with this process
sys.exit(done.returncode)
"""


@pytest.mark.cell
def test_a_full_disk_keeps_what_fitted_and_says_so(tmp_path: Path) -> None:
    write_scenario(tmp_path, repeat=60)
    small = tmp_path / "small"
    small.mkdir()
    program = FULL.replace("KEEP", repr(KEEP))
    done = subprocess.run(
        [sys.executable, "-c", program, str(small), "400k", str(tmp_path / "kept"), *COMMAND[1:],
         "run", "dark.scenario.yaml", "--env", "sim", "--out", "small/r"],
        cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    assert done.returncode == 3, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert "error: cannot write to small/r: No space left on device; " in done.stderr
    results = read(tmp_path / "kept" / "r")
    assert 0 < len(results.runs) < 60
    assert f"{len(results.runs)} finished runs are kept there and readable" in done.stderr
    assert "faultlab run --resume small/r" in done.stderr
    assert results.quarantined == ()


@pytest.mark.cell
def test_without_toxiproxy_auto_takes_sim_and_local_says_how_to_get_it(tmp_path: Path) -> None:
    write_scenario(tmp_path)
    env = {"HOME": str(tmp_path), "XDG_CACHE_HOME": "/dev/null/cache", "PATH": "/usr/bin:/bin"}
    if shutil.which("toxiproxy-server", path=env["PATH"]):
        pytest.skip("this machine has Toxiproxy where every program is")
    auto = faultlab("run", ".", cwd=tmp_path, env=env)
    assert auto.code == 0, auto.err
    assert auto.out.startswith("sim instead of local: ")
    local = faultlab("run", ".", "--env", "local", cwd=tmp_path, env=env)
    assert local.code == 3
    assert "oxiproxy" in local.err
    assert "cannot be built in /dev/null/cache" in local.err, "it says why it was not obtained"
    assert len(local.err.splitlines()) >= 2, "it says what to do"
    broken = faultlab("run", ".", "--env", "local", cwd=tmp_path, env={**env, "TOXIPROXY_SERVER": "/nowhere/toxiproxy"})
    assert broken.code == 3
    assert "/nowhere/toxiproxy" in broken.err


@pytest.mark.cell
def test_the_gate_names_what_it_may_not_read_or_write(tmp_path: Path) -> None:
    """Results that nobody may read are not results that are not there."""
    write_scenario(tmp_path / "s", repeat=5)
    assert faultlab("run", "s", "--env", "sim", "--out", "results/now", cwd=tmp_path).code == 0
    assert faultlab("gate", "--update", cwd=tmp_path).code == 0
    results = tmp_path / "results"
    results.chmod(0)
    try:
        held = ordinarily("gate", cwd=tmp_path)
        assert (held.code, held.err.splitlines()[0]) == (4, "error: cannot read results/: Permission denied"), held.err
        results.chmod(0o555)
        assert ordinarily("gate", cwd=tmp_path).code == 0
        run = ordinarily("gate", "--run", cwd=tmp_path)
        assert run.code == 3
        assert "Permission denied; nothing was run\n  name a folder that can be written with --out" in run.err
        assert ordinarily("gate", "--run", "--out", "elsewhere", cwd=tmp_path).code == 0
    finally:
        results.chmod(0o755)
    file = tmp_path / "faultlab-baseline.json"
    kept = file.read_text()
    tmp_path.chmod(0o555)
    try:
        done = ordinarily("gate", "--update", "--current", "results/now", cwd=tmp_path)
        assert done.code == 3
        assert "error: cannot write faultlab-baseline.json: Permission denied" in done.err
    finally:
        tmp_path.chmod(0o755)
    assert file.read_text() == kept


@pytest.mark.cell
def test_a_full_disk_leaves_no_half_file_of_the_gate(tmp_path: Path) -> None:
    write_scenario(tmp_path / "s", repeat=5)
    assert faultlab("run", "s", "--env", "sim", "--out", "was", cwd=tmp_path).code == 0
    if UNSHARE is None:
        pytest.skip("unshare is not installed")
    (tmp_path / "full").mkdir()
    fill = 'mount -t tmpfs -o size=16k none full && head -c 99999 /dev/zero > full/fill 2>/dev/null; "$@"; code=$?'
    cell = (UNSHARE, "--user", "--map-root-user", "--mount", "sh", "-c", f"{fill}; ls -A full; exit $code", "sh")
    for arguments in (
        ("gate", "--update", "--current", "was", "--baseline", "full/baseline.json"),
        ("gate", "--baseline", "was", "--current", "was", "--junit", "full/gate.xml"),
    ):
        done = faultlab(*arguments, cwd=tmp_path, before=cell)
        assert done.code == 3, done.out + done.err
        assert f"cannot write {arguments[-1]}: No space left on device" in done.err
        assert done.out.splitlines()[-1] == "fill", "nothing else is there"
