"""Protects the Transport: the walk over a shuffled list, the error that was never reset, and what is shared."""

import asyncio
from math import comb

import pytest
from kafka_go_lab import RELEASES, ROUND_TRIPS_S, V8, V9, V50, Lab, on_virtual_time

from client.profiles import profile
from harness.levers import MoveLeader


@pytest.mark.parametrize("version", RELEASES)
def test_an_error_of_the_first_metadata_stays_until_the_release_that_clears_it(version: str) -> None:
    """Issue 582. In v0.4.8 another Writer on the same Transport fails as well; what NewWriter makes is apart."""

    async def check(lab: Lab) -> None:
        program = await lab.program(Transport_MetadataTTL=2.0, Writer_BatchSize=1).connect()
        with lab.dark(1):
            _, first = await program.ended(program.send("cold"))
        await asyncio.sleep(30)
        assert first is not None
        _, later = await program.ended(program.send("later"))
        await program.connect("second")
        _, second = await program.ended(program.send("second", handle="second"))
        if version == V8:
            assert later is not None
            assert second is not None
            assert later.text == second.text == first.text
        else:
            assert (later, second) == (None, None)
        assert lab.of("refresh_ended", outcome="ok"), "metadata came in every release"

    on_virtual_time(check, version)


def test_a_new_transport_is_for_writers_that_are_made_later() -> None:
    """Two Writers on one Transport share the error that stays; one on another Transport does not have it."""

    async def check(lab: Lab) -> None:
        program = await lab.program(Transport_MetadataTTL=2.0, Writer_BatchSize=1).connect()
        await program.connect("beside")
        with lab.dark(1):
            await program.ended(program.send("cold"))
        await asyncio.sleep(10)
        await program.call("new_transport", "t")
        await program.connect("fresh")
        ends = {name: (await program.ended(program.send(name, handle=name)))[1] for name in ("main", "beside", "fresh")}
        assert [name for name, error in ends.items() if error is None] == ["fresh"]

    on_virtual_time(check, V8)


def test_new_writer_takes_no_new_transport() -> None:
    async def check(lab: Lab) -> None:
        program = await lab.program(producer="NewWriter").connect()
        assert "new_transport" not in program.session.handlers, "it makes a Transport for each Writer"

    on_virtual_time(check, V50)


def test_a_second_walk_mostly_begins_before_the_first_one_is_known_to_have_failed() -> None:
    """Where the timer is over by then. In Go the caller is woken, and the walk is dialling before it has returned,
    unless an idle processor takes the caller at once."""
    dials: list[int] = []

    async def check(lab: Lab) -> None:
        program = await lab.program(Transport_MetadataTTL=1.0).connect()
        with lab.dark(1):
            assert (await program.ended(program.send("cold")))[0] == pytest.approx(3.0, abs=ROUND_TRIPS_S)
            dials.append(len(lab.of("dial_started")))

    for seed in range(40):
        on_virtual_time(check, V9, seed=seed)
    assert set(dials) == {1, 2}
    assert dials.count(2) > 40 * 0.6


def test_a_pool_that_had_metadata_keeps_it_through_an_outage() -> None:
    async def check(lab: Lab) -> None:
        program = await lab.program(Transport_MetadataTTL=1.0, Writer_BatchSize=1).connect()
        await program.send()
        with lab.dark(1):
            await asyncio.sleep(60)
        await asyncio.sleep(10)
        assert (await program.ended(program.send("later")))[1] is None

    on_virtual_time(check, V8)


@pytest.mark.parametrize(("dead", "live"), [(2, 2), (3, 1)])
def test_the_shares_of_walks_are_those_of_a_shuffled_list(dead: int, live: int) -> None:
    """Over seeds. By default one dead address may come before a live one: 3 s of the walk's 5 s."""
    ends: list[float | None] = []

    async def check(lab: Lab) -> None:
        dark = range(live + 1, live + dead + 1)
        program = await lab.program(range(1, live + dead + 1), Writer_BatchSize=1).connect()
        with lab.dark(*dark):
            took_s, error = await program.ended(program.send("probe"))
        ends.append(None if error is not None else took_s)

    for seed in range(120):
        on_virtual_time(check, V8, brokers=live, seed=seed)
    share = {
        "at once": sum(end is not None and end < 1 for end in ends) / len(ends),
        "after one": sum(end == pytest.approx(3, abs=ROUND_TRIPS_S) for end in ends) / len(ends),
        "failed": ends.count(None) / len(ends),
    }
    n = dead + live
    expected = {
        "at once": live / n, "after one": dead / n * live / (n - 1), "failed": comb(dead, 2) / comb(n, 2),
    }  # fmt: skip
    assert sum(share.values()) == pytest.approx(1)
    assert share == pytest.approx(expected, abs=0.15)


def test_formulas_of_a_walk_add_up() -> None:
    functions = profile("kafka-go").functions
    settings = profile("kafka-go").settings.resolve({}, V8)
    for dead in range(9):
        for live in range(1, 9):
            delays = [functions["walk_delay_share"](met, dead, live, settings) for met in range(dead + 1)]
            failed = functions["walk_failure_share"](dead, live, settings)
            assert sum(delays) + failed == pytest.approx(1)
    assert functions["walk_failure_share"](2, 2, settings) == pytest.approx(1 / 6)
    assert functions["walk_delay_share"](0, 2, 2, settings) == pytest.approx(1 / 2)
    assert functions["walk_delay_share"](1, 2, 2, settings) == pytest.approx(1 / 3)
    assert functions["walk_failure_share"](4, 0, settings) == 1
    assert functions["backoff_sum"](10, settings) == pytest.approx(7.4)


@pytest.mark.parametrize("version", [V8, V50])
def test_a_moved_leader_is_found_with_the_next_metadata(version: str) -> None:
    """Until then the old one refuses; v0.4.8 tries the broker's own error again, too."""

    async def check(lab: Lab) -> None:
        program = await lab.program(Transport_MetadataTTL=2.0, Writer_BatchSize=1).connect()
        await program.send()
        lab.controller.change(MoveLeader(topic="orders", partition=0, to=2))
        took_s, error = await program.ended(program.send("probe"))
        assert error is None
        assert took_s < 4
        assert [fields["broker"] for _, fields in lab.of("attempt_started", operation="send-probe")][-1] == 2

    on_virtual_time(check, version, brokers=2)


def test_requests_have_the_versions_of_the_library() -> None:
    async def check(lab: Lab) -> None:
        program = await lab.program(Writer_BatchSize=1, Transport_ClientID="mine").connect()
        await program.send("sized")

    sent = on_virtual_time(check, V9).of("request_sent")
    sizes = {str(fields["api"]): fields["bytes"] for _, fields in sent}
    assert list(sizes) == ["ApiVersions", "Metadata", "Produce"]
    header = 4 + 2 + 2 + 4 + 2 + len("mine")
    assert sizes["ApiVersions"] == header, "v0"
    assert sizes["Metadata"] == header + 4 + 3, "v8: all topics, and three flags"


def test_two_writers_share_connections_and_idle_ones_are_closed() -> None:
    async def check(lab: Lab) -> None:
        program = await lab.program(Writer_BatchSize=1, Transport_MetadataTTL=3600.0).connect()
        await program.connect("second")
        await program.send("one")
        await program.send("two", handle="second")
        assert len(lab.of("dial_started")) == 2, "the control connection, and the leader's"
        await asyncio.sleep(29)
        assert not lab.of("connection_closed")
        await asyncio.sleep(2)
        assert len(lab.of("connection_closed")) == 2
        await program.send("three")
        assert len(lab.of("dial_started")) == 3

    on_virtual_time(check, V50)
