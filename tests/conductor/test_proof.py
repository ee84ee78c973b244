"""Protects the proof of a fault: an effect that nobody saw must not count as one."""

import pytest

from harness.conductor.proof import check_proof
from harness.faults import FAULTS, Proof
from harness.faults.latency import Latency
from harness.levers import (
    CloseListener,
    ConnectionsCut,
    DelaySeen,
    DialsRefused,
    Evidence,
    FilterPackets,
    Intercept,
    Lever,
    PacketAction,
    PacketsDropped,
    RequestsIntercepted,
    RequestsUnread,
    Signal,
    Silence,
    Toxic,
)

TO_BROKER = FilterPackets(broker=1, flow="to_broker", verdict=PacketAction.DROP)
TO_CLIENT = FilterPackets(broker=1, flow="to_client", verdict=PacketAction.DROP)
SLOW = [Toxic(broker=b, flow="to_broker", kind="latency", attributes=(("latency", 100),)) for b in (1, 2)]


def slow(*delays_s: float) -> list[tuple[Lever, Evidence]]:
    return [(lever, DelaySeen(delay_s=delay_s)) for lever, delay_s in zip(SLOW, delays_s, strict=True)]


@pytest.mark.parametrize(
    ("seen", "count", "proven", "finding"),
    [
        ([(TO_BROKER, PacketsDropped(packets=14)), (TO_CLIENT, PacketsDropped())], 14, True, "dropped 14 packets"),
        ([(TO_BROKER, PacketsDropped(packets=1))], 1, True, "dropped 1 packet"),
        (
            [(TO_BROKER, PacketsDropped()), (TO_CLIENT, PacketsDropped())],
            0,
            False,
            "dropped 0 packets: nothing was tested",
        ),
        ([(TO_BROKER, DialsRefused(dials=3))], 0, False, "dropped 0 packets: nothing was tested"),
        ([], 0, False, "pulled no lever: nothing was tested"),
    ],
)
def test_a_blackhole_is_proven_by_dropped_packets(
    seen: list[tuple[Lever, Evidence]], count: int, proven: bool, finding: str
) -> None:
    found = check_proof(FAULTS["blackhole"](), seen)
    assert (found.count, found.proven, found.finding) == (count, proven, finding)


def test_a_refusal_is_proven_by_refused_dials_and_by_what_was_closed_with_the_port() -> None:
    found = check_proof(FAULTS["refuse"](), [(CloseListener(broker=1), DialsRefused(dials=4, connections=9))])
    assert (found.count, found.proven, found.finding) == (13, True, "refused 4 dials and closed 9 connections")


@pytest.mark.parametrize(
    ("fault", "lever", "evidence", "count", "finding"),
    [
        (
            "kill",
            Signal(broker=1, kind="kill"),
            ConnectionsCut(connections=2, dials=3),
            5,
            "cut or refused 5 connections",
        ),
        ("restart", Signal(broker=1, kind="restart"), ConnectionsCut(connections=1), 1, "cut or refused 1 connection"),
        ("reset", TO_BROKER, ConnectionsCut(connections=1), 1, "cut or refused 1 connection"),
        (
            "pause",
            Signal(broker=1, kind="pause"),
            RequestsUnread(connections=1),
            1,
            "left 1 connection with unread requests",
        ),
        (
            "pause",
            Signal(broker=1, kind="pause"),
            RequestsUnread(requests=2),
            2,
            "left 0 connections with unread requests and was met by 2 requests to others",
        ),
        (
            "silence",
            Intercept(broker=1, answer=Silence()),
            RequestsIntercepted(requests=4),
            4,
            "intercepted 4 requests",
        ),
    ],
)
def test_each_fault_is_proven_by_what_it_did_to_clients(
    fault: str, lever: Lever, evidence: Evidence, count: int, finding: str
) -> None:
    found = check_proof(FAULTS[fault](), [(lever, evidence)])
    assert (found.count, found.proven, found.finding) == (count, True, finding)
    nothing = check_proof(FAULTS[fault](), [(lever, DelaySeen(delay_s=9.0))])
    assert (nothing.proven, nothing.finding.endswith(": nothing was tested")) == (False, True)


class SlowEverywhere(Latency):
    proof = Proof(DelaySeen, scope="each_lever")


@pytest.mark.parametrize(
    ("delays_s", "proven", "finding"),
    [
        ((0.101, 0.100), True, "delayed bytes by 0.101 s"),
        ((0.101, 0.0), False, "delayed bytes by 0.101 s, but too little at broker 2 (to_broker): not all was tested"),
        ((0.02, 0.0), False, "delayed bytes by 0.020 s, less than the 0.09 that would prove it: nothing was tested"),
    ],
)
def test_a_fault_may_have_to_be_proven_at_each_lever(delays_s: tuple[float, ...], proven: bool, finding: str) -> None:
    found = check_proof(SlowEverywhere.model_validate({"delay": "100ms"}), slow(*delays_s))
    assert (found.proven, found.finding) == (proven, finding)
    if not proven:
        anywhere = check_proof(FAULTS["latency"].model_validate({"delay": "100ms"}), slow(*delays_s))
        assert anywhere.proven is (max(delays_s) > 0.1)


def test_every_declared_proof_can_be_counted() -> None:
    for fault in FAULTS.values():
        assert check_proof(fault.model_construct(delay=0.1, jitter=0.0), []).proven is False
