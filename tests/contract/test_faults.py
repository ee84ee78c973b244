"""Protects that each fault does to a client what it says, in each world; that its proof says so; and that once it is
healed the client fares as before.

Whoever looks is a plain connection that knows nothing of faults: it dials, asks for metadata and sends a message.
"""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any

import pytest
from talk import TOPIC, Talk, produce, produced
from toolkit import now_s

from client.wire.apis.api_versions import ApiVersionsRequest
from client.wire.apis.metadata import MetadataRequest, MetadataRequestTopic
from harness.conductor.proof import check_proof
from harness.environments.world import World
from harness.faults import FAULTS

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
)
CLUSTER: tuple[Fault, ...] = (
    ("no_leader", {"partition": "orders/0"}, "metadata error 5"),
    ("unknown_topic", {"topic": "orders"}, "metadata error 3"),
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


@pytest.mark.parametrize("faults", [NETWORK, TOXICS, BROKERS, CLUSTER], ids=["network", "toxics", "brokers", "cluster"])
async def test_each_fault_is_seen_is_proven_and_leaves_nothing(world: World, faults: tuple[Fault, ...]) -> None:
    assert await seen(world) == "well"
    for name, parameters, expected in faults:
        fault = FAULTS[name].model_validate(parameters)
        async with AsyncExitStack() as stack:
            stages = fault.stages(replace(world.view(), seed="1"))
            pulled = [(one.lever, await stack.enter_async_context(world.pull(one.lever))) for one in stages]
            assert await seen(world) == expected, name
            proof = check_proof(fault, [(lever, await active.evidence()) for lever, active in pulled])
            assert proof.proven, (name, proof.finding)
        assert await seen(world) == "well", name
