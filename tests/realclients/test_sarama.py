"""Protects the programs around Sarama: its own settings by their own names, its own errors, the protocol kept."""

import json
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from client.profiles import profile

pytestmark = [pytest.mark.timeout(900), pytest.mark.parametrize("version", ["1.27.2", "1.60.1"])]
NOBODY = "127.0.0.1:1"
QUICK = {"Net.DialTimeout": 0.2, "Metadata.Retry.Backoff": 0.01}

Built = Callable[[str], Path]
Spoken = Callable[..., Any]


def test_it_is_ready_on_our_clock_and_ends_with_its_stdin(built: Built, spoken: Spoken, version: str) -> None:
    before_ns = time.monotonic_ns()
    subject = spoken(built(version), version=version)
    ready = subject.said()
    assert ready["ev"] == "ready"
    assert before_ns < ready["clock_ns"] < time.monotonic_ns()
    code, errors = subject.end()
    assert code == 0
    upstream = {"1.27.2": "github.com/Shopify/sarama", "1.60.1": "github.com/IBM/sarama"}[version]
    assert f"{upstream} {version}, go1." in errors


def test_what_it_is_not_is_refused(built: Built, version: str) -> None:
    launch = {"protocol": 1, "client": "sarama", "version": "1.40.0", "bootstrap": [], "settings": {}}
    done = subprocess.run(
        [built(version)], env={**os.environ, "FAULTLAB_SUBJECT": json.dumps(launch)}, capture_output=True, text=True,
        stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (4, "")
    assert f"this program is sarama {version}" in done.stderr
    launch |= {"version": version, "producer": "eager"}
    done = subprocess.run(
        [built(version)], env={**os.environ, "FAULTLAB_SUBJECT": json.dumps(launch)}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (4, "")
    assert "no producer eager, only sync and async" in done.stderr
    bare = {key: value for key, value in os.environ.items() if key != "FAULTLAB_SUBJECT"}
    done = subprocess.run([built(version)], env=bare, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (4, "")
    assert "FAULTLAB_SUBJECT is not set" in done.stderr


@pytest.mark.parametrize(
    ("settings", "error_class", "says"),
    [
        ({"Net.DailTimeout": 1}, "SettingError", "no setting Net.DailTimeout (did you mean Net.DialTimeout?)"),
        ({"Net.DialTimeout": "soon"}, "SettingError", 'Net.DialTimeout is a duration in seconds, not "soon"'),
        ({"Producer.Retry.Max": 1.5}, "SettingError", "Producer.Retry.Max is a whole number, not 1.5"),
        ({"Producer.RequiredAcks": "All"}, "SettingError", "is one of NoResponse, WaitForLocal, WaitForAll"),
        ({"Metadata.Full": 1}, "SettingError", "Metadata.Full is true or false, not 1"),
        ({"Version": "9"}, "SettingError", "Version invalid version `9`"),
        ({"MetricRegistry": "x"}, "SettingError", "cannot be set from outside"),
        ({"Net.Proxy.Enable": True}, "SettingError", "belongs to faultlab"),
        ({"X": 1, "Y": 2}, "SettingError", "there is no setting X; there is no setting Y"),
        ({"Net.MaxOpenRequests": 0}, "ConfigurationError", "Net.MaxOpenRequests must be > 0"),
        ({"Producer.Return.Errors": False}, "ConfigurationError", "Producer.Return.Errors must be true"),
    ],
)
def test_a_wrong_setting_is_refused_by_us_or_by_the_library(
    built: Built, spoken: Spoken, version: str, settings: dict[str, Any], error_class: str, says: str
) -> None:
    answer = spoken(built(version), bootstrap=[NOBODY], settings=settings).answer(op="connect", id="c")
    assert (answer["ev"], answer["class"]) == ("error", error_class)
    assert says in answer["error"]


def test_every_kind_of_setting_is_taken(built: Built, spoken: Spoken, version: str) -> None:
    settings = {
        **QUICK, "Net.MaxOpenRequests": 3, "Net.SASL.Mechanism": "PLAIN", "Net.SASL.Version": 1, "Metadata.Full": True,
        "Producer.RequiredAcks": "WaitForAll", "Producer.Compression": "zstd", "Producer.Partitioner": "roundrobin",
        "Producer.Flush.Frequency": 0.5, "Consumer.IsolationLevel": "ReadCommitted", "Consumer.Offsets.Initial": -2,
        "ClientID": "tried", "Version": "2.1.0",
    }  # fmt: skip
    answer = spoken(built(version), bootstrap=[NOBODY], settings=settings).answer(op="connect", id="c")
    assert answer["class"] == "ErrOutOfBrokers", answer


def test_the_library_takes_every_choice_that_the_profile_offers(built: Built, spoken: Spoken, version: str) -> None:
    """Else `--client real` refuses what the profile accepts. Versions are the library's own list; zstd asks for one."""
    offered = [
        (setting.name, choice)
        for setting in profile("sarama").settings.for_release(version)
        for choice in setting.choices
        if setting.name != "Version"
    ]
    assert ("Producer.Partitioner", "referencehash") in offered
    for name, choice in offered:
        settings = {**QUICK, "Metadata.Retry.Max": 0, "Version": "2.1.0", name: choice}
        answer = spoken(built(version), bootstrap=[NOBODY], settings=settings).answer(op="connect", id="c")
        assert answer["class"] == "ErrOutOfBrokers", (name, choice, answer)


def test_dials_are_traced_as_the_library_makes_them(built: Built, spoken: Spoken, version: str) -> None:
    """Four tries of one seed, each refused at once; the error keeps Sarama's text."""
    subject = spoken(built(version), bootstrap=[NOBODY], settings=QUICK)
    assert subject.said()["ev"] == "ready"
    subject.ask(op="connect", id="c")
    events = [subject.said()]
    while events[-1]["ev"] != "error":
        events.append(subject.said())
    assert events[0]["ev"] == "started"
    dials = [event for event in events if event["ev"] == "trace"]
    assert [event["kind"] for event in dials] == ["dial_started", "dial_ended"] * 4
    assert [event["connection"] for event in dials] == [1, 1, 2, 2, 3, 3, 4, 4]
    assert {event["address"] for event in dials} == {NOBODY}
    assert {event["outcome"] for event in dials if event["kind"] == "dial_ended"} == {"refused"}
    assert events[-1]["error"].startswith("kafka: client has run out of available brokers to talk to")
    stamps = [event["at_ns"] for event in events]
    assert stamps == sorted(stamps)
    assert stamps[-1] - stamps[0] >= 3 * 0.01 * 1e9
