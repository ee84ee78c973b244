"""Protects that each fault does to a client what it says, in each world; that its proof says so; and that once it is
healed the client fares as before.

Whoever looks is a plain connection that knows nothing of faults: it dials, asks for metadata and sends a message.
"""

import asyncio
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from talk import REPLICATED, TOPIC, Talk, WrongAnswerError, produce, produced, values
from toolkit import now_s, since

from client.wire.apis.api_versions import API_VERSIONS, ApiVersionsRequest
from client.wire.apis.metadata import METADATA as METADATA_API
from client.wire.apis.metadata import MetadataRequest, MetadataRequestTopic
from client.wire.errors import UNSUPPORTED_VERSION
from client.wire.frames import frame
from harness.conductor.faults import ActiveFault
from harness.conductor.levers_before import LeversBefore
from harness.conductor.proof import ProofResult, check_proof
from harness.conductor.recorder import Recorder
from harness.environments.world import World
from harness.faults import FAULTS
from harness.plan import PlannedFault, call_alias

PATIENCE_S = 2.0
LATE_S = 0.95
"""What is late by a second here, is so by more than any machine."""
MESSAGE = bytes(1_200)
METADATA = MetadataRequest(topics=(MetadataRequestTopic(name=TOPIC),))
Fault = tuple[str, dict[str, Any], str]

NETWORK: tuple[Fault, ...] = (
    ("blackhole", {}, "dial nothing"),
    ("drop", {"only": "syn"}, "dial nothing"),
    ("drop", {"only": "data", "flows": "to_client"}, "versions nothing"),
    ("refuse", {"by": "listener"}, "dial refused"),
    ("refuse", {"by": "firewall"}, "dial refused"),
    ("reset", {"upon": "request"}, "versions reset"),
    ("reset", {"upon": "answer", "bytes": "10B"}, "versions reset"),
    ("slow_dial", {"delay": "1s"}, "dial late"),
    ("loss", {"chance": "100%", "brokers": [1]}, "dial nothing"),
    ("latency", {"delay": "1s", "via": "packets", "flows": "to_client"}, "dial late"),
    ("duplicate", {"brokers": [1]}, "well"),
)
TOXICS: tuple[Fault, ...] = (
    ("latency", {"delay": "1s", "flows": "to_client"}, "versions late"),
    ("bandwidth", {"rate": "1KB/s", "flows": "to_broker"}, "message late"),
    ("slicer", {"average_size": "100B", "delay": "70ms", "flows": "to_broker"}, "message late"),
    ("timeout", {}, "versions nothing"),
    ("timeout", {"timeout": "100ms"}, "versions closed"),
    ("limit_data", {"bytes": "10B", "flows": "to_client"}, "versions closed"),
    ("reset_peer", {"timeout": "100ms", "flows": "to_broker"}, "versions reset"),
)
BROKERS: tuple[Fault, ...] = (
    ("kill", {}, "dial refused"),
    ("pause", {}, "versions nothing"),
    ("silence", {"api": "produce"}, "message nothing"),
    ("slow_answer", {"api": "produce", "delay": "1s"}, "message late"),
    ("slow_broker", {"api": "metadata", "delay": "1s"}, "metadata late"),
    ("error_answer", {"code": "NOT_LEADER_OR_FOLLOWER"}, "message error 6"),
    ("bad_frame", {"api": "produce", "damage": "cut"}, "message closed"),
    ("bad_frame", {"api": "produce", "damage": "cut", "then": "reset"}, "message reset"),
    ("correlation_mismatch", {"api": "produce"}, "message of another request"),
)
CLUSTER: tuple[Fault, ...] = (
    ("no_leader", {"partition": "orders/0"}, "metadata error 5"),
    ("unknown_topic", {"topic": "orders"}, "metadata error 3"),
    ("old_broker", {"highest": {"metadata": 0}, "brokers": [1]}, "metadata closed"),
    ("scale_down", {"brokers": [2]}, "metadata of 1 brokers"),
)


async def seen(world: World) -> str:
    """The first thing that is not as ever, or `well`."""
    began_s = now_s()
    phase, taken = "dial", ""
    try:
        talk = await asyncio.wait_for(Talk.to(world), PATIENCE_S)
        for phase, body in (("versions", ApiVersionsRequest()), ("metadata", METADATA), ("message", produce(MESSAGE))):
            if now_s() - began_s >= LATE_S:
                return f"{taken or 'dial'} late"
            began_s, taken = now_s(), phase
            answer = await talk.ask(body, within_s=PATIENCE_S)
            if wrong := _wrong(phase, answer):
                return f"{phase} {wrong}"
        talk.abandon()
    except TimeoutError:
        return f"{phase} nothing"
    except ConnectionRefusedError:
        return f"{phase} refused"
    except ConnectionResetError:
        return f"{phase} reset"
    except EOFError:
        return f"{phase} closed"
    except WrongAnswerError:
        return f"{phase} of another request"
    return f"{phase} late" if now_s() - began_s >= LATE_S else "well"


def _wrong(phase: str, answer: Any) -> str:
    if phase == "versions":
        return ""
    if phase == "metadata":
        (topic,) = answer.topics
        code = topic.error_code or topic.partitions[0].error_code
        listed = len(answer.brokers)
        return f"error {code}" if code else "" if listed == 2 else f"of {listed} brokers"
    code, _ = produced(answer)
    return f"error {code}" if code else ""


@asynccontextmanager
async def injected(world: World, name: str, **parameters: Any) -> AsyncIterator[Callable[[], Awaitable[ProofResult]]]:
    """A fault while the block runs; what is yielded checks its proof."""
    fault = FAULTS[name].model_validate(parameters)
    async with AsyncExitStack() as stack:
        stages = fault.stages(replace(world.view(), seed="1"))
        pulled = [(one.lever, await stack.enter_async_context(world.pull(one.lever))) for one in stages]

        async def verdict() -> ProofResult:
            return check_proof(fault, [(lever, await active.evidence()) for lever, active in pulled])

        yield verdict


@pytest.mark.parametrize("faults", [NETWORK, TOXICS, BROKERS, CLUSTER], ids=["network", "toxics", "brokers", "cluster"])
async def test_each_fault_is_seen_is_proven_and_leaves_nothing(world: World, faults: tuple[Fault, ...]) -> None:
    assert await seen(world) == "well"
    for name, parameters, expected in faults:
        async with injected(world, name, **parameters) as verdict:
            assert await seen(world) == expected, name
            proof = await verdict()
            assert proof.proven, (name, proof.finding)
        assert await seen(world) == "well", name


# Its removal waits for the reset, which has to come after the healing has begun: a busy machine is slow to begin.
@pytest.mark.parametrize(("name", "parameters"), [("timeout", {}), ("reset_peer", {"timeout": "1500ms"})])
async def test_who_is_cut_off_by_the_healing_dials_again_and_meets_no_toxic(
    world: World, name: str, parameters: dict[str, str]
) -> None:
    fault = ActiveFault(
        PlannedFault(fault=FAULTS[name].model_validate(parameters), alias="healed"), world, Recorder(world.now_ns())
    )
    await fault.pull(replace(world.view(), seed="1"))
    talk = await Talk.to(world)
    talk.send(ApiVersionsRequest())
    await asyncio.sleep(0.1)
    healing = asyncio.create_task(fault.heal())
    with pytest.raises((EOFError, ConnectionError)):
        await talk.answer(ApiVersionsRequest())
    assert await seen(world) == "well"
    await healing
    assert fault.story().proven, fault.story().finding


async def test_a_restart_ends_what_is_open_and_nothing_else(world: World) -> None:
    talk = await Talk.to(world)
    assert produced(await talk.ask(produce(MESSAGE))) == (0, 0)
    async with injected(world, "restart", brokers=[1]) as verdict:
        assert await ended(talk)
        assert await seen(world) == "well"
        assert (await verdict()).proven
    assert await seen(world) == "well"
    assert len(await values(world)) == 3


async def ended(talk: Talk) -> bool:
    """Whether the other end closes or resets the connection soon."""
    try:
        return not await asyncio.wait_for(talk.reader.read(), PATIENCE_S)
    except ConnectionResetError:
        return True
    except TimeoutError:
        return False


async def test_a_slow_close_tells_late_that_a_broker_has_closed(world: World) -> None:
    async with injected(world, "slow_close", delay="1s", brokers=[1], flows="to_client") as verdict:
        async with injected(world, "bad_frame", api="produce", damage="cut"):
            began_s = now_s()
            assert await seen(world) == "message closed"
            assert since(began_s) >= LATE_S
        assert (await verdict()).proven
    assert await seen(world) == "well"


async def leaders(world: World, name: str) -> list[int]:
    """Of a topic's partitions, as broker 1 tells them."""
    talk = await Talk.to(world)
    (topic,) = (await talk.ask(MetadataRequest(topics=(MetadataRequestTopic(name=name),)))).topics
    talk.abandon()
    return [partition.leader_id for partition in topic.partitions]


async def test_a_moved_leader_is_told_unless_metadata_are_stale(world: World) -> None:
    assert await leaders(world, REPLICATED) == [1]
    async with injected(world, "leader_move", partition=f"{REPLICATED}/0") as moved:
        assert await leaders(world, REPLICATED) == [2]
        assert (await moved()).proven
    assert await leaders(world, REPLICATED) == [1]
    async with (
        injected(world, "stale_metadata", brokers=[1]) as stale,
        injected(world, "leader_move", partition=f"{REPLICATED}/0"),
    ):
        assert await leaders(world, REPLICATED) == [1]
        assert (await stale()).proven
    assert await leaders(world, REPLICATED) == [1]
    assert await seen(world) == "well"


@pytest.mark.parametrize(("before", "meanwhile"), [("refuse", "refused"), ("blackhole", "nothing")])
async def test_a_broker_that_joins_is_neither_named_nor_reached_until_then(
    world: World, before: str, meanwhile: str
) -> None:
    """As a run has it: twice, since a fault recurs."""
    fault = FAULTS["scale_up"].model_validate({"brokers": [2], "before": before})
    absent = LeversBefore(fault, world, world.view())
    await absent.pull()
    for number in (1, 2):
        assert await seen(world) == "metadata of 1 brokers"
        assert await leaders(world, TOPIC) == [1, 1]
        assert await dialled(world, 2) == meanwhile
        step = PlannedFault(fault=fault, alias=call_alias("joined", number))
        joined = ActiveFault(step, world, Recorder(world.now_ns()), absent)
        await joined.pull(world.view())
        assert await seen(world) == "well"
        assert await leaders(world, TOPIC) == [1, 2]
        assert await dialled(world, 2) == "accepted"
        await joined.heal()
        assert joined.story().proven, joined.story().finding
    await absent.close()
    assert await seen(world) == "well"
    assert await leaders(world, TOPIC) == [1, 2]


async def test_a_broker_that_joins_while_nobody_asks_is_not_proven(world: World) -> None:
    fault = FAULTS["scale_up"].model_validate({"brokers": [2]})
    absent = LeversBefore(fault, world, world.view())
    await absent.pull()
    joined = ActiveFault(PlannedFault(fault=fault, alias="joined"), world, Recorder(world.now_ns()), absent)
    await joined.pull(world.view())
    await joined.heal()
    await absent.close()
    assert not joined.story().proven


async def dialled(world: World, broker: int) -> str:
    try:
        talk = await asyncio.wait_for(Talk.to(world, broker), PATIENCE_S)
    except ConnectionRefusedError:
        return "refused"
    except TimeoutError:
        return "nothing"
    talk.abandon()
    return "accepted"


async def test_an_old_broker_that_no_client_asks_is_not_proven(world: World) -> None:
    async with injected(world, "old_broker", highest={"metadata": 0}, brokers=[2]) as verdict:
        assert await seen(world) == "well", "broker 1 alone is asked"
        assert not (await verdict()).proven


@pytest.mark.parametrize(
    ("name", "same"),
    [
        ("leader_move", {"partition": f"{REPLICATED}/0", "to": 1}),
        ("old_broker", {"highest": {"produce": 99}, "brokers": [1]}),
    ],
)
async def test_what_changes_nothing_is_not_proven(world: World, name: str, same: dict[str, object]) -> None:
    async with injected(world, name, **same) as verdict:
        assert await seen(world) == "well"
        assert await leaders(world, REPLICATED) == [1]
        assert not (await verdict()).proven


@pytest.mark.parametrize("highest", [{"fetch": 4}, {"metadata": 1, "produce": 3}])
async def test_an_old_broker_is_not_proven_by_requests_in_versions_that_it_speaks_as_before(
    world: World, highest: dict[str, int]
) -> None:
    talk = await Talk.to(world)
    async with injected(world, "old_broker", highest=highest, brokers=[1]) as verdict:
        await talk.ask(METADATA)
        await talk.ask(produce(MESSAGE))
        assert not (await verdict()).proven


async def test_an_old_broker_is_proven_by_what_it_refuses_for_its_version(world: World) -> None:
    talk, other = await Talk.to(world), await Talk.to(world)
    await talk.ask(METADATA)
    async with injected(world, "old_broker", highest={"produce": 2, "metadata": 1}, brokers=[1]) as verdict:
        assert not (await verdict()).proven
        with pytest.raises(EOFError):
            await talk.ask(produce(MESSAGE))
        assert (await verdict()).count == 1
        await other.ask(METADATA)
        assert (await verdict()).count == 1, "in version 1"
        other.send(METADATA, version=2)
        assert await ended(other)
        assert (await verdict()).count == 2


async def test_an_old_broker_is_proven_by_the_versions_that_it_names(world: World) -> None:
    talk = await Talk.to(world)
    async with injected(world, "old_broker", release="kafka-2.3", brokers=[1]) as verdict:
        await talk.ask(ApiVersionsRequest())
        assert (await verdict()).count == 1
        talk.send(ApiVersionsRequest(client_software_name="talk", client_software_version="1"), version=3)
        refusal = await talk.answer(ApiVersionsRequest())
        assert (refusal.error_code, refusal.api_keys) == (UNSUPPORTED_VERSION, ()), "as before Kafka 2.4"
        assert (await verdict()).count == 2


async def test_a_broker_that_is_not_that_old_names_the_version_to_ask_with(world: World) -> None:
    async with injected(world, "old_broker", highest={"api_versions": 3}, brokers=[1]):
        talk = await Talk.to(world)
        talk.send(ApiVersionsRequest(client_software_name="talk", client_software_version="1"), version=4)
        refusal = await talk.answer(ApiVersionsRequest())
        assert refusal.error_code == UNSUPPORTED_VERSION
        assert [(row.api_key, row.max_version) for row in refusal.api_keys] == [(API_VERSIONS.key, 3)]


async def test_what_a_broker_refuses_without_the_fault_proves_nothing(world: World) -> None:
    async with injected(world, "old_broker", release="kafka-2.3", brokers=[1]) as verdict:
        talk = await Talk.to(world)
        talk.writer.write(frame(struct.pack(">hhih", METADATA_API.key, 99, 1, -1)))
        assert await ended(talk)
        assert not (await verdict()).proven


async def test_a_request_that_an_old_broker_refuses_shows_nothing_else_of_the_cluster(world: World) -> None:
    talk = await Talk.to(world)
    async with (
        injected(world, "leader_move", partition=f"{REPLICATED}/0") as moved,
        injected(world, "old_broker", highest={"produce": 2}, brokers=[1]) as old,
    ):
        with pytest.raises(EOFError):
            await talk.ask(produce(MESSAGE, topic=REPLICATED))
        assert (await old()).proven
        assert not (await moved()).proven


@pytest.mark.parametrize("name", ["blackhole", "kill"])
async def test_a_broker_that_has_left_can_still_be_struck(world: World, name: str) -> None:
    for left_first in (True, False):
        left, struck = AsyncExitStack(), AsyncExitStack()
        await left.enter_async_context(injected(world, "scale_down", brokers=[2]))
        await struck.enter_async_context(injected(world, name, brokers=[2]))
        assert await dialled(world, 2) == ("nothing" if name == "blackhole" else "refused")
        assert await seen(world) == "metadata of 1 brokers"
        for healed in (left, struck) if left_first else (struck, left):
            await healed.aclose()
        assert await seen(world) == "well"
        assert await dialled(world, 2) == "accepted"
