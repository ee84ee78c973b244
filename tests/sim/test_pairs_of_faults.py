"""Protects what two faults do together on one broker: on the way of a dial and of a request, the first of them that
decides does so, of two at the same place the one that was injected first; delays on the way to it add up."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass
from random import Random
from typing import Any, Literal

import pytest
from simplans import plan

from client.wire.apis.metadata import METADATA, MetadataRequest
from client.wire.frames import FrameReader
from client.wire.messages import decode_response, encode_request
from harness.environments.sim.loop import SimLoop
from harness.environments.sim.simulation import simulate
from harness.environments.sim.world import SimWorld
from harness.environments.world import ActiveLever
from harness.faults import FAULTS

PATIENCE_S = 10.0
Phase = Literal["dial", "request"]
PLACES = ("packets", "listener", "proxy there", "broker", "proxy back", "packets back")
"""In the order in which a request meets them on its way to the broker and back."""


@dataclass(frozen=True)
class Met:
    """A fault as the client meets it: in which phase and where, what it decides, or by how much it delays."""

    name: str
    parameters: dict[str, Any]
    phase: Phase
    place: str
    decides: str = ""
    delay_s: float = 0.0

    @property
    def id(self) -> str:
        return "-".join([self.name, *map(str, self.parameters.values())]).replace(" ", "")


FAULTS_MET = (
    Met("slow_dial", {"delay": "300ms"}, "dial", "packets", delay_s=0.3),
    Met("slow_dial", {"delay": "200ms"}, "dial", "packets", delay_s=0.2),
    Met("drop", {"only": "syn"}, "dial", "packets", "nothing"),
    Met("accept_queue_full", {}, "dial", "packets", "nothing"),
    Met("refuse", {"by": "firewall"}, "dial", "packets", "refused"),
    Met("refuse", {"by": "listener"}, "dial", "listener", "refused"),
    Met("drop", {"only": "data", "flows": "to_broker"}, "request", "packets", "nothing"),
    Met("half_open", {}, "request", "packets", "nothing"),
    Met("half_open", {"then": "reset"}, "request", "packets", "reset"),
    Met("reset", {"upon": "request"}, "request", "packets", "reset"),
    Met("latency", {"delay": "100ms", "flows": "to_broker"}, "request", "proxy there", delay_s=0.1),
    Met("timeout", {"flows": "to_broker"}, "request", "proxy there", "nothing"),
    Met("limit_data", {"bytes": "0B", "flows": "to_broker"}, "request", "proxy there", "closed"),
    Met("slow_broker", {"delay": "400ms"}, "request", "broker", delay_s=0.4),
    Met("slow_answer", {"delay": "500ms"}, "request", "broker", delay_s=0.5),
    Met("silence", {}, "request", "broker", "nothing"),
    Met("error_answer", {"api": "metadata", "code": "LEADER_NOT_AVAILABLE"}, "request", "broker", "error"),
    Met("latency", {"delay": "150ms", "flows": "to_client"}, "request", "proxy back", delay_s=0.15),
    Met("timeout", {"flows": "to_client"}, "request", "proxy back", "nothing"),
    Met("drop", {"only": "data", "flows": "to_client"}, "request", "packets back", "nothing"),
    Met("reset", {"upon": "answer"}, "request", "packets back", "reset"),
)
Outcome = tuple[str, float]


def expected(*in_order: Met) -> tuple[Outcome, list[Met]]:
    """What the client meets and after how long, and which faults had a part in it."""
    way = sorted(in_order, key=lambda met: (met.phase != "dial", PLACES.index(met.place)))
    delay_s, part = 0.0, []
    for met in way:
        part.append(met)
        delay_s += met.delay_s
        # An answer that is no success goes on its way back all the same.
        if met.decides and met.decides != "error":
            # What a proxy never passes on was delayed by nothing that anybody could see.
            seen = [one for one in part if one.decides or one.place != met.place or "proxy" not in met.place]
            return (met.decides, delay_s), seen
        if met.decides == "error":
            behind = [one for one in way[way.index(met) + 1 :] if one.place != "broker"]
            late = [one for one in way[: way.index(met)] if one.place == "broker"]
            assert all(one.delay_s for one in late)
            (verdict, more_s), parts = expected(*behind) if behind else (("answer", 0.0), [])
            verdict = "error" if verdict == "answer" else verdict
            return (verdict, delay_s + more_s), [*part, *parts]
    return ("answer", delay_s), part


async def met_by_client(address: tuple[str, int]) -> str:
    try:
        reader, writer = await asyncio.open_connection(*address)
        writer.write(encode_request(MetadataRequest(topics=None), version=1, correlation_id=1, client_id="client"))
        frames = FrameReader()
        while data := await reader.read(65536):
            for payload in frames.feed(data):
                body = decode_response(METADATA, 1, payload)[1]
                return "error" if body.topics[0].error_code else "answer"
    except ConnectionRefusedError:
        return "refused"
    except ConnectionResetError:
        return "reset"
    return "closed"


async def pulled(world: SimWorld, met: Met, stack: AsyncExitStack) -> list[ActiveLever]:
    fault = FAULTS[met.name].model_validate(met.parameters)
    return [await stack.enter_async_context(world.pull(stage.lever)) for stage in fault.stages(world.view())]


def pair(first: Met, second: Met) -> None:
    async def main(loop: SimLoop) -> None:
        async with SimWorld.opened(loop, plan(), None) as world, AsyncExitStack() as stack:
            levers = {met.id: await pulled(world, met, stack) for met in (first, second)}
            began_s, since_ns = loop.time(), world.now_ns()
            try:
                async with asyncio.timeout_at(began_s + PATIENCE_S):
                    outcome = await met_by_client(world.advertised_address(1))
            except TimeoutError:
                outcome = "nothing"
            took_s = loop.time() - began_s
            (verdict, delay_s), part = expected(first, second)
            assert outcome == verdict
            if verdict != "nothing":
                assert took_s == pytest.approx(delay_s, abs=0.002)
            for met in (first, second):
                seen = [(await lever.evidence(since_ns, world.now_ns())).amount for lever in levers[met.id]]
                assert (max(seen) > 0) is (met in part), (met.id, seen)

    simulate(main, Random(3))


@pytest.mark.parametrize("first", FAULTS_MET, ids=lambda met: met.id)
def test_two_faults_meet_in_the_order_of_their_injection(first: Met) -> None:
    for second in FAULTS_MET:
        if second is not first:
            pair(first, second)
