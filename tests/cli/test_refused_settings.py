"""Protects the set-up: a client that refuses its settings is an error that begins with its own words, no verdict."""

import json
import sys
from pathlib import Path
from typing import Literal

import pytest
from command_line import faultlab

from cli.exit_codes import ExitCode
from cli.show.case_annotations import annotations
from cli.show.cases import group_into_cases
from cli.show.formatting import case_label
from cli.show.job_summary import job_summary
from cli.show.live import heartbeat
from cli.show.summary import headline, sentence
from harness.drivers.last_words import last_words
from harness.records.run import KernelRecord, LabErrorRecord, NoiseRecord, RunRecord, Verdict
from harness.suite.progress import SuiteProgress

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
    ended = ["SUBJECT ERROR  1 ended by the subject of 1 run", "SUBJECT ERROR  refused  python "]
    assert [text in done.out for text in ended] == [verdict == "lab_error"] * 2, done.out
    assert "the lab" not in done.out
    assert "LAB ERROR" not in done.out


def _ended(run_id: str, blame: Literal["lab", "subject"] | None) -> RunRecord:
    """A run that ended early, or that passed."""
    error = None if blame is None else LabErrorRecord(code="ended", text="it ended", blame=blame)
    verdict: Verdict = "pass" if blame is None else "lab_error"
    return RunRecord(
        run_id=run_id, attempt=1, scenario="a", path="a.scenario.yaml", environment="local", client="mine",
        client_version="1", driver="exec", broker="embedded", brokers=1, bootstrap=(1,), seed=1, repeat=1,
        started_at="2026-01-01T00:00:00Z", duration_s=1.0, verdict=verdict, error=error,
        noise=NoiseRecord(loop_lag_p99_s=0.0, loop_lag_max_s=0.0, samples=1),
        kernel=KernelRecord(release="6", hz=250, sysctls=()),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("blamed", "label", "text"),
    [
        (("subject", "subject"), "SUBJECT ERROR", "2 ended by the subject"),
        (("subject", None), "SUBJECT ERROR", "1 ended by the subject, 1 passed"),
        (("lab", "subject"), "LAB ERROR", "1 ended by the lab, 1 ended by the subject"),
        (("lab", None), "LAB ERROR", "1 ended by the lab, 1 passed"),
    ],
)
def test_the_lab_is_blamed_for_what_it_ended_alone(
    blamed: tuple[Literal["lab", "subject"] | None, ...], label: str, text: str
) -> None:
    """In the table and in the closing line, while the suite runs, and on the job's page. The keys stay as they are."""
    runs = [_ended(f"{number:012d}", blame) for number, blame in enumerate(blamed)]
    (case,) = cases = group_into_cases(runs)
    assert (case.verdict, case_label(case)) == ("lab_error", label)
    assert headline(ExitCode.LAB_ERROR, runs)[0] == label
    assert headline(ExitCode.INTERRUPTED, runs)[0] == "INTERRUPTED"
    assert sentence(runs, cases, planned=2) == f"{text} of 2 runs"
    assert text.replace(", ", "  ") in heartbeat(SuiteProgress((), lanes=1, previous_runs=runs).snapshot()).plain
    page = job_summary(cases, head=label, sentence=text, facts="", replay=lambda _: "")
    assert f"**{label}**" in page
    (annotation,) = annotations(case, replay="")
    assert (annotation.level, annotation.title) == ("error", label.lower().replace(" ", "-"))


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
