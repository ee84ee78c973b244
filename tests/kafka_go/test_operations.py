"""Protects what a Client does on the Writers' Transport: topics created and awaited, offsets split and merged."""

import asyncio

import pytest
from kafka_go_lab import RELEASES, ROUND_TRIPS_S, V8, V9, V50, Lab, on_virtual_time

from harness.levers import ErrorAnswer


@pytest.mark.parametrize("version", RELEASES)
def test_a_created_topic_is_known_when_the_call_returns(version: str) -> None:
    """CreateTopics forces a refresh, so that the very next message finds the topic in the cache."""

    async def check(lab: Lab) -> None:
        program = await lab.program(Writer_BatchSize=1, Transport_MetadataTTL=3600.0).connect()
        await program.send()
        await program.call("create_topics", "t", topic="fresh", partitions=3, replication=2)
        assert len(lab.of("refresh_started")) == 2
        assert (await program.send("there", topic="fresh", partition=2))["offset"] == 0
        found = await program.call("list_offsets", "l", topic="fresh", partitions=3)
        assert found == {"offsets": "0:0 1:0 2:1"}

    on_virtual_time(check, version, brokers=2)


@pytest.mark.parametrize("version", RELEASES)
def test_a_topic_that_is_refused_keeps_older_releases_until_the_deadline(version: str) -> None:
    """Issue 672: they wait for all topics that were asked for to appear, the refused ones too."""

    async def check(lab: Lab) -> None:
        program = await lab.program(Writer_BatchSize=1, Transport_MetadataTTL=3600.0).connect()
        await program.send()
        took_s, error = await program.ended(
            program.call("create_topics", "t", deadline_s=4.0, topic="wanted", replication=9)
        )
        assert error is not None
        assert error.name == "InvalidReplicationFactor"
        assert took_s == pytest.approx(0 if version == V50 else 4.0, abs=ROUND_TRIPS_S)
        took_s, error = await program.ended(program.call("create_topics", "again", topic="orders"))
        assert error is not None
        assert error.name == "TopicAlreadyExists"
        assert took_s < ROUND_TRIPS_S

    on_virtual_time(check, version)


def test_offsets_are_asked_of_each_leader_and_merged() -> None:
    async def check(lab: Lab) -> None:
        program = await lab.program(Writer_BatchSize=1).connect()
        await program.call("create_topics", "t", topic="spread", partitions=4)
        before = len(lab.of("request_sent", api="ListOffsets"))
        assert (await program.call("list_offsets", "l", topic="spread", partitions=4))["offsets"] == "0:0 1:0 2:0 3:0"
        asked = [fields["broker"] for _, fields in lab.of("request_sent", api="ListOffsets")][before:]
        assert sorted(asked) == [1, 1, 2, 2], "one request for each partition"
        with lab.answering("list_offsets", ErrorAnswer(error="NOT_LEADER_OR_FOLLOWER")):
            found = await program.call("list_offsets", "refused", topic="spread", partitions=1)
        assert found["offsets"] == "0:NotLeaderForPartition"
        with lab.dark(1):
            took_s, error = await program.ended(
                program.call("list_offsets", "late", deadline_s=2.0, topic="spread", partitions=1)
            )
        assert took_s == pytest.approx(2.0)
        assert error is not None
        assert error.text == "kafka.(*Client).ListOffsets: context deadline exceeded"

    on_virtual_time(check, V9, brokers=2)


def test_requests_behind_the_deadline_dial_no_more() -> None:
    """One after the other: the first waits out the deadline, and the dials of the others end when they begin."""

    async def check(lab: Lab) -> None:
        program = await lab.program(Writer_BatchSize=1, Transport_MetadataTTL=3600.0).connect()
        await program.send()
        await program.call("close_idle", "c")
        await program.call("list_offsets", "known", topic="wide", partitions=1)
        with lab.dark(1):
            call = program.call("list_offsets", "late", deadline_s=0.5, topic="wide", partitions=3)
            took_s, error = await program.ended(call)
            await asyncio.sleep(0.1)
        assert took_s == pytest.approx(0.5)
        assert error is not None
        deadline_at = max(at_s for at_s, _ in lab.of("dial_started"))
        late = [(at_s, fields) for at_s, fields in lab.of("dial_ended") if at_s >= deadline_at]
        assert {fields["outcome"] for _, fields in late} == {"timeout"}
        assert len(lab.of("dial_started")) == len(lab.of("dial_ended")), "none goes on"

    on_virtual_time(check, V8)


def test_closing_idle_connections_cures_the_error_that_stays() -> None:
    async def check(lab: Lab) -> None:
        program = await lab.program(Writer_BatchSize=1, Transport_MetadataTTL=2.0).connect()
        with lab.dark(1):
            await program.ended(program.send("cold"))
        await asyncio.sleep(10)
        assert (await program.ended(program.send("stuck")))[1] is not None
        await program.call("close_idle", "i")
        assert (await program.ended(program.send("cured")))[1] is None

    on_virtual_time(check, V8)
