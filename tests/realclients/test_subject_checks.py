"""Protects whoever writes a subject: each broken promise is named, a kept one is not, and the lab survives all."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.subject_checks import CHECKS

pytestmark = [pytest.mark.cell, pytest.mark.timeout(900), pytest.mark.ci]
Built = Callable[[str], Path]

SAY = """
import json, sys, time, threading
def say(**event): print(json.dumps(event), flush=True)
def now(): return time.monotonic_ns()
def each(do):
    for line in sys.stdin: do(json.loads(line))
"""
STUPID = """
say(ev="ready", clock_ns=now())
def do(c):
    say(ev="started", id=c["id"], at_ns=now())
    say(ev="ok", id=c["id"], at_ns=now())
each(do)
"""

BROKEN = {
    "ready": ("print('hello')", "ended its output|garbage|no JSON"),
    "send": (STUPID, "its value is not in the log"),
    "text": (STUPID, "came to the log as something else"),
    "unknown-op": (STUPID, "answered `ok`; an `error` is due"),
    "dark": (STUPID.replace("say(ev=\"ok\"", "time.sleep(0.3); say(ev=\"ok\""), "began only when the first had ended"),
    "start-in-the-dark": (STUPID, "`ok` though no packet reached the broker"),
    "close": (STUPID + "time.sleep(60)", "had not exited 5 s later"),
    "end-of-stdin": (STUPID + "time.sleep(60)", "had not exited 5 s later"),
}  # fmt: skip


SLOW = ("close", "end-of-stdin")
"""The lab waits 5 s for an exit, and again for the program's end."""


def test_there_is_a_breach_for_every_promise() -> None:
    assert set(BROKEN) == set(CHECKS)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in BROKEN]
)
def test_a_broken_promise_is_named(faultlab: Callable[..., Any], tmp_path: Path, name: str) -> None:
    script, says = BROKEN[name]
    (tmp_path / "subject.py").write_text(SAY + script)
    done = faultlab("clients", "check", "--json", "--only", name, "--patience", "3s", sys.executable, "subject.py")
    assert done.returncode == 1, done.stderr
    (finding,) = json.loads(done.stdout)["findings"]
    assert finding["state"] == "not kept"
    assert any(part in finding["text"] for part in says.split("|")), finding["text"]


def test_silence_is_no_error_and_what_helps_is_said(faultlab: Callable[..., Any], tmp_path: Path) -> None:
    silent = STUPID.replace('say(ev="ok", id=c["id"], at_ns=now())', "pass")
    (tmp_path / "subject.py").write_text(SAY + silent)
    done = faultlab("clients", "check", "--only", "send", "--patience", "300ms", sys.executable, "subject.py")
    assert done.returncode == 1
    assert "within 0.3 s" in done.stdout
    assert "--patience" in done.stdout


PATIENT = """
import json, os
launch = {**json.loads(os.environ["FAULTLAB_SUBJECT"]), "client": "sarama", "version": "1.60.1"}
os.environ["FAULTLAB_SUBJECT"] = json.dumps(launch)
from client.process import main
main()
"""
"""Sarama's defaults: it waits for 30 s."""


def test_patience_breaks_no_promise(faultlab: Callable[..., Any], tmp_path: Path) -> None:
    """A client that waits for the broker is answered when that is back: nobody has to wait for its time-outs."""
    (tmp_path / "patient.py").write_text(PATIENT)
    chosen = ("--only", "dark", "--only", "start-in-the-dark")
    done = faultlab("clients", "check", "--json", *chosen, sys.executable, "patient.py")
    findings = json.loads(done.stdout)["findings"]
    assert [finding["state"] for finding in findings] == ["kept", "kept"], findings
    assert ["--dark" in " ".join(finding["notes"]) for finding in findings] == [True, True]


def test_logs_are_kept_where_they_help_and_nowhere_else(
    faultlab: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a program says on stderr explains a breach; a check that finds none leaves nothing behind."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    silent = STUPID.replace('say(ev="ok", id=c["id"], at_ns=now())', 'print("hm", file=sys.stderr, flush=True)')
    quick = ("--only", "send", "--patience", "300ms")
    (tmp_path / "silent.py").write_text(SAY + silent)
    (tmp_path / "subject.py").write_text(SAY + STUPID)

    done = faultlab("clients", "check", "--json", "--only", "ready", sys.executable, "subject.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout)["logs"] is None
    assert not (tmp_path / "results").exists()

    for number in (1, 2):
        done = faultlab("clients", "check", *quick, sys.executable, "silent.py")
        assert done.returncode == 1
        kept = sorted((tmp_path / "results").iterdir())
        assert len(kept) == number, "two checks of one minute keep logs of their own"
        assert f"what it said on stderr: results/{kept[-1].name}" in " ".join(done.stdout.split())
    assert (kept[0] / "send.log").read_text() == "hm\n"

    done = faultlab("clients", "check", "--json", *quick, "--logs", "mine", sys.executable, "silent.py")
    assert json.loads(done.stdout)["logs"] == "mine"
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["send.log"]
    assert list((tmp_path / "tmp").iterdir()) == []


def test_a_breach_names_the_log_where_it_is_kept(faultlab: Callable[..., Any], tmp_path: Path) -> None:
    """Programs are tried in a folder that goes with the check: nobody finds a log there."""
    (tmp_path / "loud.py").write_text("import sys\nsys.exit('boom')\n")
    done = faultlab("clients", "check", "--json", "--only", "ready", "--logs", "mine", sys.executable, "loud.py")
    (finding,) = json.loads(done.stdout)["findings"]
    assert finding["text"].endswith("exit code 1 before it said `ready`; its log: mine/ready.log")
    assert (tmp_path / "mine" / "ready.log").read_text() == "boom\n"
    (tmp_path / "mute.py").write_text("")
    mute = faultlab("clients", "check", "--json", "--only", "ready", sys.executable, "mute.py")
    (finding,) = json.loads(mute.stdout)["findings"]
    assert finding["text"].endswith("exit code 0 before it said `ready`")


@pytest.mark.slow
@pytest.mark.parametrize("version", ["1.27.2", "1.60.1"])
def test_sarama_s_programs_keep_everything(
    built: Built, faultlab: Callable[..., Any], tmp_path: Path, version: str
) -> None:
    built(version)
    quick = [word for pair in ("Net.DialTimeout=50ms", "Net.ReadTimeout=100ms") for word in ("--set", pair)]
    done = faultlab("clients", "check", *quick, "--json", f"sarama@{version}")
    findings = json.loads(done.stdout)["findings"]
    assert [finding["name"] for finding in findings] == list(CHECKS)
    assert {finding["state"] for finding in findings} == {"kept"}, findings
    assert [note for finding in findings for note in finding["notes"]] == []
    assert done.returncode == 0


def test_wrong_words_are_refused(faultlab: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("")
    (tmp_path / "mine.py").chmod(0o755)
    for words, says in (
        (("--set", "x", "true"), "--set x sets nothing"),
        (("/nonexistent/mine",), "there is no program /nonexistent/mine"),
        (("mine.py",), "there is no program mine.py\n  write ./mine.py"),
        (("--patience", "soon", "true"), "--patience"),
        ((), "Missing argument"),
    ):
        done = faultlab("clients", "check", *words)
        assert done.returncode == 4, done.stderr
        assert says in done.stderr
