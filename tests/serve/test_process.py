"""Protects `python -m client`: pipes, exit codes, and that no operation pays for what could be loaded before."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from machine_noise import measured_lateness


def start(record: str | None) -> "subprocess.Popen[bytes]":
    environment = {name: value for name, value in os.environ.items() if name != "FAULTLAB_SUBJECT"}
    if record is not None:
        environment["FAULTLAB_SUBJECT"] = record
    return subprocess.Popen(
        [sys.executable, "-m", "client"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment,
    )  # fmt: skip


def test_a_process_speaks_the_protocol_over_its_pipes(launch: Callable[..., dict[str, Any]]) -> None:
    process = start(json.dumps(launch(("127.0.0.1", 1), Metadata_Retry_Backoff=0.05)))
    commands = b'{"op":"connect","id":"c"}\nnonsense\n{"op":"close","id":"end"}\n'
    out, err = process.communicate(commands, timeout=20)
    assert process.returncode == 0, err
    events = [json.loads(line) for line in out.splitlines()]
    assert events[0]["ev"] == "ready"
    answered = {event["id"]: event for event in events if event["ev"] in ("ok", "error")}
    assert answered[None]["class"] == "CommandError"
    assert answered["end"]["ev"] == "ok"
    assert b"Traceback" not in err


def test_a_refused_bootstrap_takes_three_back_offs(launch: Callable[..., dict[str, Any]]) -> None:
    late_s = measured_lateness()
    process = start(json.dumps(launch(("127.0.0.1", 1))))
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b'{"op":"connect","id":"c"}\n')
    process.stdin.flush()
    stamps = {}
    for line in process.stdout:
        event = json.loads(line)
        if event.get("id") == "c":
            stamps[event["ev"]] = event["at_ns"]
        if event["ev"] == "error":
            break
    process.stdin.close()
    assert process.wait(timeout=10) == 0
    took_s = (stamps["error"] - stamps["started"]) / 1e9
    assert 0.75 <= took_s < 0.75 + 0.25 + late_s()  # four refused dials and a machine that may be busy
    process.stdout.close()
    assert process.stderr is not None
    process.stderr.close()


@pytest.mark.parametrize(
    ("record", "says"),
    [
        (None, b"FAULTLAB_SUBJECT is not set"),
        ("{", b"FAULTLAB_SUBJECT is no JSON"),
        ("[]", b"FAULTLAB_SUBJECT is no JSON object"),
        ('{"client":"sarama","version":"9.9.9"}', b"bootstrap is None"),
        ('{"client":"sarama","version":"9.9.9","bootstrap":[]}', b"sarama 9.9.9 is not reproduced, only 1.27.2"),
    ],
)
def test_a_bad_launch_is_a_sentence_and_exit_4(record: str | None, says: bytes) -> None:
    process = start(record)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 4
    assert not out
    assert says in err
    assert b"Traceback" not in err


def test_a_line_above_the_limit_ends_the_process_in_words(launch: Callable[..., dict[str, Any]]) -> None:
    process = start(json.dumps(launch(("127.0.0.1", 1))))
    _, err = process.communicate(b"x" * (40 << 20) + b"\n", timeout=20)
    assert process.returncode == 4
    assert b"commands cannot be read" in err
    assert b"Traceback" not in err


def test_a_regular_file_for_stdin_is_refused_in_words(launch: Callable[..., dict[str, Any]], tmp_path: Any) -> None:
    commands = tmp_path / "commands"
    commands.write_text("")
    with commands.open("rb") as stdin:
        done = subprocess.run(
            [sys.executable, "-m", "client"], stdin=stdin, capture_output=True, timeout=20, check=False,
            env=os.environ | {"FAULTLAB_SUBJECT": json.dumps(launch(("127.0.0.1", 1)))},
        )  # fmt: skip
    assert done.returncode == 4
    assert b"stdin and stdout have to be pipes" in done.stderr
    assert b"Traceback" not in done.stderr
