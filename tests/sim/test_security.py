"""Protects TLS and SASL on virtual time: real handshakes over simulated sockets, the same events for the same seed, and
no secret in what a run leaves behind."""

from dataclasses import replace
from typing import Any

import pytest
from simplans import plan

from harness.brokers.security import security_of
from harness.conductor.conduct import conduct
from harness.environments.sim.environment import SimEnvironment
from harness.faults import FAULTS
from harness.plan import ClusterShape, PlannedFault, PlannedOperation, RunPlan
from harness.story import Outcome, Story

VERSIONS = ("1.27.2", "1.60.1")
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
CONNECT = PlannedOperation(operation="connect", alias="connect", give_up_after_s=60.0)
SEND = PlannedOperation(operation="send", alias="probe", give_up_after_s=60.0)


def run(one: RunPlan) -> Story:
    return SimEnvironment(conduct).run(one, lambda _: None, None)


def secured(version: str, mechanism: str | None, *, tls: bool = True, **settings: Any) -> RunPlan:
    authenticated = {"Net_SASL_Enable": True, "Net_SASL_Mechanism": mechanism} if mechanism else {}
    return plan(
        CONNECT, SEND, version=version, tls=tls, sasl=MECHANISMS if mechanism else (), brokers=2,
        Net_TLS_Enable=tls, **authenticated, **settings,
    )  # fmt: skip


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("mechanism", [None, *MECHANISMS])
def test_the_same_seed_gives_the_same_events(version: str, mechanism: str | None) -> None:
    first = run(secured(version, mechanism))
    assert [one.outcome for one in first.operations] == [Outcome.OK, Outcome.OK], first.operations
    assert run(secured(version, mechanism)) == first


@pytest.mark.parametrize("settings", [{}, {"Net_SASL_Version": 0, "ApiVersionsRequest": False}])
def test_the_old_exchange(settings: dict[str, Any]) -> None:
    """Messages that stand in no request: 1.60.1's on demand, 1.27.2's PLAIN by default."""
    version = VERSIONS[bool(settings)]
    for mechanism in ("PLAIN", "SCRAM-SHA-256"):
        assert run(secured(version, mechanism, tls=False, **settings)).operations[-1].outcome is Outcome.OK


@pytest.mark.parametrize("version", VERSIONS)
def test_no_secret_is_left_behind(version: str) -> None:
    shape = ClusterShape(brokers=2, tls=True, sasl=MECHANISMS)
    password = security_of(shape, ["127.0.2.1", "127.0.2.2"]).credentials.password
    story = run(secured(version, "PLAIN"))
    assert password not in repr(story)
    assert password not in repr(secured(version, "PLAIN"))


def faulty(version: str, fault: str, how: str, **more: Any) -> Story:
    """The fault lies on every broker before the client is constructed."""
    one = secured(version, "PLAIN", Metadata_Retry_Max=0, **more)
    injected = PlannedFault(fault=FAULTS[fault](how=how), alias="outage")
    return run(_with_steps(one, injected, CONNECT))


def _with_steps(one: RunPlan, *steps: Any) -> RunPlan:
    return replace(one, steps=steps)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("fault", "how", "seconds"),
    [
        ("tls", "cut", 0.0), ("tls", "expired", 0.0), ("tls", "foreign", 0.0), ("tls", "wrong_name", 0.0),
        ("sasl", "refuse", 0.0), ("sasl", "other_mechanisms", 0.0), ("sasl", "stall", 2.0),
    ],
)  # fmt: skip
def test_faults_are_proven_and_end_when_they_should(version: str, fault: str, how: str, seconds: float) -> None:
    story = faulty(version, fault, how)
    connect = story.operations[0]
    assert story.faults[0].proven, story.faults[0]
    assert connect.outcome is Outcome.FAILED, connect
    assert (connect.ended_ns - connect.started_ns) / 1e9 == pytest.approx(seconds, abs=0.001)


def test_a_stalled_handshake_hangs_1_27_2_for_ever_and_1_60_1_for_its_read_timeout() -> None:
    old, new = (faulty(version, "tls", "stall").operations[0] for version in VERSIONS)
    assert old.outcome is Outcome.CENSORED
    assert (new.ended_ns - new.started_ns) / 1e9 == pytest.approx(2.0, abs=0.001)


def test_a_toxic_is_proven_inside_of_tls() -> None:
    one = secured("1.27.2", None)
    slow = PlannedFault(fault=FAULTS["latency"](delay="100ms"), alias="slow")
    assert run(_with_steps(one, slow, CONNECT, SEND)).faults[0].proven
