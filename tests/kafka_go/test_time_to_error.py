"""Protects the profile's main job: each release hangs as long as the real one does under each fault.

The expected times are the upstream source's arithmetic with its defaults; builds of the real library were measured at
the same values.
"""

import pytest
from kafka_go_lab import RELEASES, ROUND_TRIPS_S, V8, V9, V50, Lab, on_virtual_time

from harness.levers import ErrorAnswer, Silence

BATCH_S, WRITE_S, DIAL_S, WALK_S, TTL_S = 1.0, 10.0, 3.0, 5.0, 6.0
BACKOFFS_S = sum(min(0.1 * n * n, 1.0) for n in range(1, 10))


def close_to(expected_s: float) -> object:
    return pytest.approx(expected_s, abs=ROUND_TRIPS_S)


@pytest.mark.parametrize(
    ("version", "attempts", "expected_s", "later_s"),
    [
        (V8, 10, BATCH_S + WRITE_S, BATCH_S + DIAL_S),
        (V9, 10, BATCH_S + WRITE_S, BATCH_S + DIAL_S),
        (V50, 10, 45.4, BATCH_S + 10 * DIAL_S + BACKOFFS_S),
        (V50, 3, 17.5, BATCH_S + 3 * DIAL_S + 0.5),
    ],
)
def test_established_and_dark(version: str, attempts: int, expected_s: float, later_s: float) -> None:
    async def check(lab: Lab) -> None:
        program = await lab.program(Writer_MaxAttempts=attempts).connect()
        await program.send()
        with lab.dark(1):
            took_s, error = await program.ended(program.send("probe"))
            assert took_s == close_to(expected_s)
            took_s, later = await program.ended(program.send("later"))
            assert took_s == close_to(later_s)
        assert error is not None
        assert later is not None
        assert {error.name, later.name} == {"Timeout"}

    on_virtual_time(check, version)


@pytest.mark.parametrize("version", RELEASES)
@pytest.mark.parametrize("brokers", [1, 2, 3, 8])
def test_cold_and_dark(version: str, brokers: int) -> None:
    """One deadline for the whole list; the second message gets the error that was kept."""

    async def check(lab: Lab) -> None:
        every = range(1, brokers + 1)
        program = await lab.program(every, Transport_MetadataTTL=3600.0).connect()
        with lab.dark(*every):
            took_s, error = await program.ended(program.send("probe"))
            assert took_s == close_to(min(WALK_S, brokers * DIAL_S))
            assert error is not None
            assert error.text.startswith("dial tcp 127.0.2.")
            assert error.text.endswith(":9092: i/o timeout")
            assert (await program.ended(program.send("later")))[0] == 0
        assert len(lab.of("dial_started")) == brokers, "also those for which no time is left"

    on_virtual_time(check, version, brokers=brokers)


@pytest.mark.parametrize("version", RELEASES)
@pytest.mark.parametrize(("api", "expected_s"), [("api_versions", WALK_S), ("metadata", TTL_S)])
def test_cold_and_silent(version: str, api: str, expected_s: float) -> None:
    """A broker that accepts and says nothing ends the walk: the second address is not dialled."""

    async def check(lab: Lab) -> None:
        program = await lab.program([1, 2], Transport_MetadataTTL=TTL_S).connect()
        with lab.answering(api, Silence()):
            took_s, error = await program.ended(program.send("probe"))
        assert took_s == close_to(expected_s)
        assert error is not None
        assert error.name == "Timeout"

    on_virtual_time(check, version, brokers=2)


@pytest.mark.parametrize(
    ("version", "expected_s"), [(V8, BATCH_S + WRITE_S), (V50, BATCH_S + WRITE_S + 9 * WALK_S + BACKOFFS_S)]
)
def test_established_and_silent(version: str, expected_s: float) -> None:
    async def check(lab: Lab) -> None:
        program = await lab.program().connect()
        await program.send()
        with lab.answering("all", Silence()):
            assert (await program.ended(program.send("probe")))[0] == close_to(expected_s)

    on_virtual_time(check, version)


@pytest.mark.parametrize("version", RELEASES)
def test_a_temporary_error_of_the_broker_is_retried_in_every_release(version: str) -> None:
    async def check(lab: Lab) -> None:
        program = await lab.program().connect()
        await program.send()
        with lab.answering("produce", ErrorAnswer(error="NOT_LEADER_OR_FOLLOWER")):
            took_s, error = await program.ended(program.send("probe"))
        assert took_s == close_to(BATCH_S + BACKOFFS_S)
        assert error is not None
        assert error.name == "NotLeaderForPartition"
        with lab.answering("produce", ErrorAnswer(error="MESSAGE_TOO_LARGE")):
            took_s, error = await program.ended(program.send("again"))
        assert took_s == close_to(BATCH_S)
        assert error is not None
        assert error.name == "MessageSizeTooLarge"

    on_virtual_time(check, version)


def test_new_writer_has_other_limits() -> None:
    """10 s for a dial, so that the walk's 5 s are what ends it."""

    async def check(lab: Lab) -> None:
        program = await lab.program(producer="NewWriter").connect()
        await program.send()
        with lab.dark(1):
            assert (await program.ended(program.send("probe")))[0] == close_to(BATCH_S + WRITE_S)
            assert (await program.ended(program.send("later")))[0] == close_to(BATCH_S + WALK_S)

    on_virtual_time(check, V8)


@pytest.mark.parametrize("version", [V8, V50])
def test_what_is_not_above_zero_means_the_default(version: str) -> None:
    async def check(lab: Lab) -> None:
        negative = {"Writer_WriteTimeout": -1.0, "Writer_BatchTimeout": 0.0, "Transport_DialTimeout": -2.0}
        program = await lab.program(Writer_MaxAttempts=1, **negative).connect()
        await program.send()
        with lab.dark(1):
            assert (await program.ended(program.send("probe")))[0] == close_to(BATCH_S + WRITE_S)

    on_virtual_time(check, version)


@pytest.mark.parametrize("version", RELEASES)
def test_the_waits_of_a_send_lie_end_to_end_and_name_their_settings(version: str) -> None:
    async def check(lab: Lab) -> None:
        program = await lab.program(Transport_MetadataTTL=3600.0, Writer_MaxAttempts=2).connect()
        await program.send()
        with lab.dark(1):
            began_s = lab.loop.time()
            await program.ended(program.send("probe"))
        waits = [(at_s, fields["waiting_on"]) for at_s, fields in lab.of("wait_started") if at_s > began_s - 1e-6]
        retried = [
            (began_s + 11.0, "Writer.WriteBackoffMin + Writer.WriteBackoffMax"),
            (began_s + 11.1, "NetDialer.Timeout"),
        ]
        expected = [(began_s, "Writer.BatchTimeout"), (began_s + 1.0, "Writer.WriteTimeout")]
        expected += retried if version == V50 else []
        assert [name for _, name in waits] == [name for _, name in expected]
        assert [at_s for at_s, _ in waits] == pytest.approx([at_s for at_s, _ in expected], abs=ROUND_TRIPS_S)

    on_virtual_time(check, version)
