"""Protects the house's main job: Sarama 1.27.2 hangs as long as the real one does, and its trace says on what.

The expected times are the upstream source's arithmetic; builds of the real client were measured at the same values.
"""

from collections.abc import Callable
from typing import Any

import pytest

from harness.levers import PacketAction

R, D, BP, BM, MU = 2.0, 1.0, 0.1, 0.25, 3
OUT_OF_BROKERS = "kafka: client has run out of available brokers to talk to (Is your cluster reachable?)"
ROUND_TRIPS_S = 0.001
"""A simulated round trip takes 60 us; a run has a few."""


async def send(producer: Any, operation: str = "probe", value: bytes = b"x") -> Any:
    return await producer.send(operation, "orders", 0, None, value)


@pytest.mark.parametrize(
    ("brokers", "bootstrap", "retry_max", "expected_s", "dials"),
    [
        (1, (1,), 0, R, 0),
        (1, (1,), 1, 2 * R + 4 * D + BP + 3 * BM, 4),
        (1, (1,), 3, 2 * R + 4 * D + BP + 3 * BM, 4),
        (3, (1,), 1, 2 * R + 6 * D + BP + 3 * BM, 6),
        (3, (1, 2, 3), 1, 2 * R + 14 * D + BP + 3 * BM, 14),
    ],
)
def test_established_blackhole(
    on_virtual_time: Callable[..., Any],
    brokers: int,
    bootstrap: tuple[int, ...],
    retry_max: int,
    expected_s: float,
    dials: int,
) -> None:
    async def check(lab: Any) -> None:
        producer = await lab.connect_and_warm_up(bootstrap, Producer_Retry_Max=retry_max)
        with lab.packet_verdict(PacketAction.DROP):
            error = await lab.assert_send_fails(producer, after_s=expected_s)
        assert len(lab.of("dial_started")) == dials
        if retry_max:
            assert (error.name, error.text) == ("ErrOutOfBrokers", OUT_OF_BROKERS)
        else:
            assert error.name == "net.OpError"
            assert error.text.startswith("read tcp 127.0.0.1:")
            assert error.text.endswith("->127.0.2.1:9092: i/o timeout")

    on_virtual_time(check, brokers=brokers)


def test_the_waits_of_a_blackholed_send_name_their_settings(on_virtual_time: Callable[..., Any]) -> None:
    async def check(lab: Any) -> None:
        producer = await lab.connect(Producer_Retry_Max=1)
        await send(producer, "warm_up")
        with lab.packet_verdict(PacketAction.DROP):
            await lab.timed(send(producer))
        assert lab.waited() == pytest.approx(
            {
                "Net.ReadTimeout": 2 * R,
                "Net.DialTimeout": 4 * D,
                "Producer.Retry.Backoff": BP,
                "Metadata.Retry.Backoff": 3 * BM,
            },
            abs=ROUND_TRIPS_S,
        )
        attempts = [(a["try_number"], a["outcome"]) for a in lab.of("attempt_ended", operation="probe")]
        assert attempts == [(1, "failed"), (2, "failed")]
        assert [r["try_number"] for r in lab.of("refresh_started")] == [1, 2, 3, 4]
        dialled = [(d["broker"], d["outcome"]) for d in lab.of("dial_ended")]
        assert dialled == [(1, "timeout"), (-1, "timeout"), (-1, "timeout"), (-1, "timeout")]

    on_virtual_time(check)


@pytest.mark.parametrize("seeds", [1, 3])
def test_blackholed_bootstrap(on_virtual_time: Callable[..., Any], seeds: int) -> None:
    async def check(lab: Any) -> None:
        with lab.packet_verdict(PacketAction.DROP):
            elapsed_s, error = await lab.timed(lab.connect(tuple(range(1, seeds + 1))))
        assert elapsed_s == pytest.approx((MU + 1) * seeds * D + MU * BM, abs=ROUND_TRIPS_S)
        assert error.text == OUT_OF_BROKERS

    on_virtual_time(check, brokers=3)


@pytest.mark.parametrize("refusal", ["packets", "nobody_listens"])
def test_refused_bootstrap(on_virtual_time: Callable[..., Any], refusal: str) -> None:
    async def check(lab: Any) -> None:
        if refusal == "nobody_listens":
            lab.kill()
            elapsed_s, error = await lab.timed(lab.connect())
        else:
            with lab.packet_verdict(PacketAction.REFUSE):
                elapsed_s, error = await lab.timed(lab.connect())
        assert elapsed_s == pytest.approx(MU * BM, abs=ROUND_TRIPS_S)
        assert error.text == OUT_OF_BROKERS
        assert {d["outcome"] for d in lab.of("dial_ended")} == {"refused"}

    on_virtual_time(check)


@pytest.mark.parametrize(
    ("version", "retry_max", "expected_s", "name"),
    [
        ("1.27.2", 0, 0.0, "io.EOF"),
        ("1.27.2", 1, BP + MU * BM, "ErrOutOfBrokers"),
        ("1.27.2", 3, BP + MU * BM, "ErrOutOfBrokers"),
        ("1.60.1", 0, MU * BM, "io.EOF"),
        ("1.60.1", 1, 2 * MU * BM + BP, "io.EOF"),
        ("1.60.1", 3, 2 * MU * BM + BP, "io.EOF"),
    ],
)
def test_broker_killed_while_connected(
    on_virtual_time: Callable[..., Any], version: str, retry_max: int, expected_s: float, name: str
) -> None:
    async def check(lab: Any) -> None:
        producer = await lab.connect_and_warm_up(Producer_Retry_Max=retry_max)
        lab.kill()
        assert (await lab.assert_send_fails(producer, after_s=expected_s)).name == name

    on_virtual_time(check, version=version)


@pytest.mark.parametrize("retry_max", [0, 1])
def test_accepted_but_never_answered(on_virtual_time: Callable[..., Any], retry_max: int) -> None:
    async def check(lab: Any) -> None:
        producer = await lab.connect(Producer_Retry_Max=retry_max)
        await send(producer, "warm_up")
        lab.silent = True
        elapsed_s, _ = await lab.timed(send(producer))
        expected_s = 6 * R + BP + MU * BM if retry_max else R
        assert elapsed_s == pytest.approx(expected_s, abs=ROUND_TRIPS_S)

    on_virtual_time(check)


def test_leader_only_blackholed_while_metadata_still_names_it(on_virtual_time: Callable[..., Any]) -> None:
    """Metadata succeed, so every retry dials the leader: R + m*(Bp + D)."""

    async def check(lab: Any) -> None:
        producer = await lab.connect((2,), Producer_Retry_Max=3)
        await send(producer, "warm_up")
        with lab.packet_verdict(PacketAction.DROP, 1):
            elapsed_s, error = await lab.timed(send(producer))
        assert elapsed_s == pytest.approx(R + 3 * (BP + D), abs=ROUND_TRIPS_S)
        assert error.text == "dial tcp 127.0.2.1:9092: i/o timeout"
        assert [a["try_number"] for a in lab.of("attempt_started", operation="probe")] == [1, 2, 3, 4]

    on_virtual_time(check, brokers=2)


def test_second_send_after_a_failed_one_without_retries(on_virtual_time: Callable[..., Any]) -> None:
    """The producer has abandoned its connection: Bp, then a refresh; the third has nothing but seeds to dial."""

    async def check(lab: Any) -> None:
        producer = await lab.connect(Producer_Retry_Max=0)
        await send(producer, "warm_up")
        with lab.packet_verdict(PacketAction.DROP):
            await lab.timed(send(producer, "first"))
            second_s, _ = await lab.timed(send(producer, "second"))
            third_s, _ = await lab.timed(send(producer, "third"))
        assert second_s == pytest.approx(BP + R + 4 * D + 3 * BM, abs=ROUND_TRIPS_S)
        assert third_s == pytest.approx(BP + 4 * D + 3 * BM, abs=ROUND_TRIPS_S)

    on_virtual_time(check)


def test_write_timeout_fires_only_where_the_kernel_does_not_take_the_request(
    on_virtual_time: Callable[..., Any],
) -> None:
    async def check(lab: Any) -> None:
        producer = await lab.connect(Producer_Retry_Max=0, Producer_MaxMessageBytes=50_000_000)
        await send(producer, "warm_up")
        with lab.packet_verdict(PacketAction.DROP):
            elapsed_s, error = await lab.timed(send(producer, value=bytes(40_000_000)))
        assert elapsed_s == pytest.approx(3.0, abs=ROUND_TRIPS_S)
        assert error.text.startswith("write tcp ")
        assert error.text.endswith(": i/o timeout")
        assert lab.waited() == pytest.approx({"Net.WriteTimeout": 3.0}, abs=ROUND_TRIPS_S)

    on_virtual_time(check)


def test_a_metadata_timeout_skips_retries_that_would_go_past_it(on_virtual_time: Callable[..., Any]) -> None:
    async def check(lab: Any) -> None:
        with lab.packet_verdict(PacketAction.DROP):
            elapsed_s, error = await lab.timed(lab.connect(Metadata_Timeout=2.4))
        # Tries end at 1.0 and 2.25; a pause from 2.25 would end at 2.5.
        assert elapsed_s == pytest.approx(2 * D + BM, abs=ROUND_TRIPS_S)
        assert error.text == OUT_OF_BROKERS

    on_virtual_time(check)


def test_the_breaker_opens_at_the_third_failure_within_ten_seconds(on_virtual_time: Callable[..., Any]) -> None:
    async def check(lab: Any) -> None:
        producer = await lab.connect(Producer_Retry_Max=0)
        await send(producer, "warm_up")
        lab.kill()
        errors = []
        for index in range(6):
            _, error = await lab.timed(send(producer, f"send-{index}"))
            errors.append(error.name)
        assert errors == ["io.EOF"] + ["ErrOutOfBrokers"] * 3 + ["breaker.ErrBreakerOpen"] * 2
        opened_s, _ = await lab.timed(send(producer, "open"))
        assert opened_s == pytest.approx(BP, abs=ROUND_TRIPS_S)

    on_virtual_time(check)


def test_equal_seeds_give_equal_events(on_virtual_time: Callable[..., Any]) -> None:
    async def check(lab: Any) -> None:
        producer = await lab.connect((1, 2, 3), Producer_Retry_Max=3)
        await send(producer, "warm_up")
        with lab.packet_verdict(PacketAction.DROP):
            await lab.timed(send(producer))

    runs = [on_virtual_time(check, brokers=3).events for _ in range(5)]
    assert runs[0]
    assert all(run == runs[0] for run in runs)
