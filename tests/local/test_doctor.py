"""Protects what `doctor` tells about the local environment: tried for real, and with a remedy where something lacks."""

import subprocess
import sys
from pathlib import Path

import pytest

from harness.environments.local.doctor import DoctorFinding, findings
from harness.toxiproxy.obtain import VERSION

pytestmark = pytest.mark.cell


def test_a_machine_that_can_is_told_so() -> None:
    found = {finding.name: finding for finding in findings()}
    assert list(found) == ["namespaces", "packet rules", "toxiproxy", "kernel", "machine"]
    assert found["namespaces"].state == found["packet rules"].state == "ok"
    assert "Hz" in found["kernel"].text


@pytest.mark.parametrize(
    ("named", "state", "remedy"), [("", "note", "harness.toxiproxy"), ("/nowhere", "missing", "unset")]
)
def test_a_toxiproxy_that_a_run_would_build_is_a_note_and_a_wrong_one_is_missing(
    named: str, state: str, remedy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("TOXIPROXY_SERVER", named)
    toxiproxy = next(finding for finding in findings() if finding.name == "toxiproxy")
    assert toxiproxy.state == state
    assert remedy in (toxiproxy.remedy or "")


_LIMITED = """
from harness.environments.local.doctor import findings
for finding in findings():
    print(finding.name, finding.state, finding.text, finding.remedy)
"""


def test_a_limit_that_keeps_toxiproxy_from_starting_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No run would build another one: `local` cannot run here."""
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("TOXIPROXY_SERVER", "")
    server = tmp_path / "faultlab" / f"toxiproxy-server-{VERSION}"
    server.parent.mkdir()
    server.write_text("#!/bin/sh\necho 'fatal error: out of memory' >&2\nexit 2\n")
    server.chmod(0o755)
    done = subprocess.run(
        ["sh", "-c", f'ulimit -v {1 << 30}; exec {sys.executable} -c "$0"', _LIMITED],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("toxiproxy "))
    assert line.startswith("toxiproxy missing ")
    assert "the address space is limited to 1048576 MiB here" in line
    assert "ulimit -v unlimited" in line


_DENIED = """
from pathlib import Path
from harness.environments.local.doctor import findings
Path("/proc/sys/user/max_user_namespaces").write_text("0")
for finding in findings():
    print(finding.name, finding.state, finding.text)
"""


def test_refused_namespaces_are_told_and_the_rest_is_looked_at_all_the_same() -> None:
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", sys.executable, "-c", _DENIED],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "namespaces missing namespaces are switched off: user.max_user_namespaces is 0"
    assert any(line.startswith("toxiproxy ") for line in lines)
    assert any(line.startswith("machine ") for line in lines)


def test_findings_are_values() -> None:
    assert DoctorFinding(name="a", state="ok", text="b") == DoctorFinding(name="a", state="ok", text="b")
