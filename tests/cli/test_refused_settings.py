"""Protects the set-up: a client that refuses its settings is an error that begins with its own words, no verdict."""

import json
import sys
from pathlib import Path

import pytest
from command_line import faultlab

from harness.drivers.last_words import last_words

SUBJECT = """\
import json, os, sys
{start}
def say(**fields): print(json.dumps(fields), flush=True)
say(ev="ready", clock_ns=0)
for line in sys.stdin:
    command = json.loads(line)
    say(ev="started", id=command["id"], at_ns=0)
    say(ev="error", id=command["id"], at_ns=0, error="no such setting: lingre.ms", **{{"class": "ConfigError"}})
"""
SCENARIO = """\
format: 1
scenario: refused
about: A client with a setting that it does not have.
client: {{driver: {{exec: [{python}, {program}]}}, bootstrap: [1]}}
cluster: {{brokers: 1, topics: [{{name: orders}}]}}
steps:
  - {{do: connect{expect}}}
  - {{inject: blackhole, brokers: all, as: outage}}
  - {{do: send, as: probe}}
expect:
  - {{measure: probe.time_to_error, at_most: 10s}}
"""


@pytest.mark.cell
@pytest.mark.parametrize(
    ("start", "expect", "verdict", "first"),
    [
        ("", ", expect: ok", "lab_error", "no such setting: lingre.ms: "),
        ("", "", "lab_error", "no such setting: lingre.ms: "),
        ("sys.exit('lingre.ms is no setting')", ", expect: ok", "lab_error", "lingre.ms is no setting: "),
        ("", ", expect: failed", "inconclusive", "fault `outage` "),
    ],
)
def test_a_client_that_refuses_its_settings_says_so_first(
    start: str, expect: str, verdict: str, first: str, tmp_path: Path
) -> None:
    (tmp_path / "mine.py").write_text(SUBJECT.format(start=start))
    scenario = SCENARIO.format(python=sys.executable, program=tmp_path / "mine.py", expect=expect)
    (tmp_path / "refused.scenario.yaml").write_text(scenario)
    done = faultlab("run", "refused.scenario.yaml", "--env", "local", "--out", "r", cwd=tmp_path)
    (record,) = (json.loads(line) for line in (tmp_path / "r" / "runs.jsonl").read_text().splitlines())
    assert (record["verdict"], done.code) == (verdict, {"lab_error": 3, "inconclusive": 2}[verdict]), done.out
    assert record["reasons"][0].startswith(first)


@pytest.mark.cell
@pytest.mark.parametrize(
    ("error_class", "code"), [("ConfigError", 2), ("KafkaConfigurationError", 3), ("ConfigException", 3)]
)
def test_a_refusal_after_a_dial_is_known_by_its_class(error_class: str, code: int, tmp_path: Path) -> None:
    """kafka-python asks a broker for its versions before it looks at all of its settings."""
    dial = (
        'import socket; socket.create_connection(json.loads(os.environ["FAULTLAB_SUBJECT"])["bootstrap"][0].split(":"))'
    )
    (tmp_path / "mine.py").write_text(SUBJECT.format(start=dial).replace("ConfigError", error_class))
    scenario = SCENARIO.format(python=sys.executable, program=tmp_path / "mine.py", expect=", expect: ok")
    (tmp_path / "refused.scenario.yaml").write_text(scenario)
    done = faultlab("run", "refused.scenario.yaml", "--env", "local", "--out", "r", cwd=tmp_path)
    assert done.code == code, done.out


@pytest.mark.parametrize(
    ("log", "words"),
    [
        ("", ""),
        ("starting\nKafkaError: no such setting\n\n", "KafkaError: no such setting"),
        ("panic: no brokers\n\ngoroutine 1 [running]:\nmain.main()\nexit status 2\n", "panic: no brokers"),
    ],
)
def test_the_last_words_of_a_program_say_why_it_ended(log: str, words: str, tmp_path: Path) -> None:
    file = tmp_path / "subject.log"
    file.write_text(log)
    assert last_words(file) == words
    assert last_words(tmp_path / "none") == last_words(None) == ""
