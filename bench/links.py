"""What faults of links declare, and what packets see of it: the table of docs/FAULTS.md.

    .venv/bin/python bench/links.py [--requests 200] [--dials 1000] [--rates 1000 2000 5000 10000 20000] [--write]

Each fault is pulled in a cell of its own with a real Toxiproxy and one broker. Delays are what a request takes longer
than without the fault, and a rate is how many bytes of a message pass in that time. Shares are counted by the packet
rules; those that are held for a while to be overtaken by a packet socket, which also sees for how long. Then packets
are sent through a hold at growing rates, to find the rate up to which it is exact. `--write` puts the table where
docs/FAULTS.md is made from. Exits with 1 where a delay, a rate or a share is further from what was declared than the
targets allow.
"""

import argparse
import asyncio
import os
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import stdev
from typing import Any

from bench.lab_error import BASE
from client.wire.apis.produce import PRODUCE, PartitionProduceData, ProduceRequest, TopicProduceData
from client.wire.frames import FrameReader
from client.wire.messages import decode_response, encode_request
from client.wire.records import Record, encode_batch
from harness.cluster_view import ClusterView
from harness.environments.linux import addresses
from harness.environments.linux.packet_socket import WholePackets, arriving_with
from harness.environments.linux.packets import HELD_COPY
from harness.environments.local.cell import call_in_cell
from harness.environments.local.world import LocalWorld
from harness.environments.probe import ask
from harness.environments.world import WorldError
from harness.faults import FAULTS, FaultModel, Stage
from harness.language.fault_reference import ACHIEVED
from harness.levers import FilterPackets, PacketAction, Toxic
from harness.plan import PlannedFault, RunPlan
from harness.stats import median, p99
from harness.suite.machine import machine
from harness.toxiproxy.obtain import ToxiproxyMissing, find

TARGET_MEDIAN_MS, TARGET_P99_MS = 1.0, 5.0
"""How far from declared a delay may be on an idle machine."""
TARGET_RATE = 0.03
"""How far from declared a rate may be, as a part of it."""
DEVIATIONS = 4.0
"""How many standard deviations of chance a share may be off."""
AT_ONCE = 50
ADDRESS = addresses.advertised_address(1)
FLOOD = Path(__file__).parent / "subjects" / "flood.py"


@dataclass(frozen=True)
class Row:
    """One line of the table; `reached`: within the targets."""

    fault: str
    declared: str
    achieved: str
    reached: bool = True

    def line(self) -> str:
        return f"| {self.fault} | {self.declared} | {self.achieved} |"


Measure = Callable[[LocalWorld], Awaitable[Row]]


@dataclass(frozen=True)
class Trial:
    """A run with one lever on the link to the broker, and what is measured of it."""

    lever: FilterPackets | Toxic
    measure: Measure

    @property
    def plan(self) -> RunPlan:
        return replace(BASE, steps=(PlannedFault(fault=_Pulled(lever_pulled=self.lever), alias="line"),))


class _Pulled(FaultModel):
    """A fault that is its lever, so that its world is made for it."""

    lever_pulled: Any

    def stages(self, view: ClusterView) -> tuple[Stage, ...]:
        return (Stage(self.lever_pulled),)


def of_fault(name: str, parameters: dict[str, object]) -> Any:
    """The lever that a fault pulls on the way to the broker."""
    fault = FAULTS[name].model_validate({"flows": ["to_broker"], **parameters})
    (stage,) = fault.stages(BASE.cluster.view())
    return stage.lever


def latency(via: str, delay_ms: int, jitter_ms: int, requests: int) -> Trial:
    """Requests one after the other, over a connection that was open before."""
    lever = of_fault("latency", {"delay": f"{delay_ms}ms", "jitter": f"{jitter_ms}ms", "via": via})

    async def measured(world: LocalWorld) -> Row:
        connection = await asyncio.open_connection(*ADDRESS)
        before_s = median(await requests_s(connection, requests))
        async with world.pull(lever):
            late_ms = [1e3 * (taken_s - before_s) for taken_s in await requests_s(connection, requests)]
        connection[1].transport.abort()
        name = f"`latency`, `via: {via}`"
        if not jitter_ms:
            return Row(name, f"{delay_ms} ms", typical(late_ms), close(late_ms, delay_ms))
        declared = f"{delay_ms} ± {jitter_ms} ms (deviation {jitter_ms / 3**0.5:.1f} ms)"
        found = f"{min(late_ms):.1f} to {max(late_ms):.1f} ms (deviation {stdev(late_ms):.1f} ms)"
        off = max(delay_ms - jitter_ms - min(late_ms), max(late_ms) - delay_ms - jitter_ms)
        return Row(f"{name}, `jitter`", declared, found, off <= TARGET_P99_MS)

    return Trial(lever, measured)


def typical(delays_ms: Sequence[float]) -> str:
    return f"median {median(delays_ms):.1f} ms, p99 {p99(delays_ms):.1f} ms"


def close(delays_ms: Sequence[float], declared_ms: float) -> bool:
    off_ms = abs(median(delays_ms) - declared_ms)
    return off_ms <= TARGET_MEDIAN_MS and p99(delays_ms) - declared_ms <= TARGET_P99_MS


async def requests_s(connection: tuple[asyncio.StreamReader, asyncio.StreamWriter], number: int) -> list[float]:
    """How long each of so many requests takes to be answered, one after the other."""
    taken = []
    for _ in range(number):
        began_s = time.monotonic()
        await ask(ADDRESS, *connection)
        taken.append(time.monotonic() - began_s)
    return taken


def bandwidth(rate_kb: int, message_kb: int, messages: int) -> Trial:
    """Messages one after the other, over a connection that was open before."""
    lever = of_fault("bandwidth", {"rate": f"{rate_kb}KB/s"})

    async def measured(world: LocalWorld) -> Row:
        connection = await asyncio.open_connection(*ADDRESS)
        before_s = median([await message_s(connection, message_kb) for _ in range(messages)])
        async with world.pull(lever):
            taken_s = [await message_s(connection, message_kb) - before_s for _ in range(messages)]
        connection[1].transport.abort()
        achieved = [message_kb / one for one in taken_s]
        found = f"{min(achieved):.1f} to {max(achieved):.1f} KB/s, {messages} messages of {message_kb} KB"
        off = max(abs(one / rate_kb - 1) for one in achieved)
        return Row("`bandwidth`", f"{rate_kb} KB/s", found, off <= TARGET_RATE)

    return Trial(lever, measured)


async def message_s(connection: tuple[asyncio.StreamReader, asyncio.StreamWriter], kilobytes: int) -> float:
    """How long a message of so many KB takes to be acknowledged."""
    reader, writer = connection
    data = PartitionProduceData(
        index=0, records=encode_batch([Record(value=bytes(1000 * kilobytes))], base_timestamp_ms=0)
    )
    topic = TopicProduceData(name=BASE.cluster.topics[0].name, partition_data=(data,))
    request = ProduceRequest(acks=-1, timeout_ms=60_000, topic_data=(topic,))
    began_s = time.monotonic()
    writer.write(encode_request(request, version=3, correlation_id=1, client_id="links"))
    frames = FrameReader()
    whole: list[bytes] = []
    while not whole:
        whole = list(frames.feed(await reader.read(65_536)))
    _, answer = decode_response(PRODUCE, 3, whole[0])
    assert not answer.responses[0].partition_responses[0].error_code, answer
    return time.monotonic() - began_s


def slicer(delay_us: int, pieces: int) -> Trial:
    """A message that is halved into so many pieces: a power of two."""
    lever = of_fault("slicer", {"average_size": f"{2_000 // pieces}B", "delay": f"{delay_us}us"})

    async def measured(world: LocalWorld) -> Row:
        connection = await asyncio.open_connection(*ADDRESS)
        before_s = median([await message_s(connection, 1) for _ in range(5)])
        async with world.pull(lever):
            taken_s = [await message_s(connection, 1) - before_s for _ in range(5)]
        connection[1].transport.abort()
        piece_ms = 1e3 * median(taken_s) / pieces
        whole_ms = -(-delay_us // 1_000)  # Go's runtime sleeps in epoll_wait
        declared, found = f"{delay_us / 1_000:g} ms a piece", f"{piece_ms:.1f} ms, messages of {pieces} pieces"
        return Row("`slicer`", declared, found, abs(piece_ms - whole_ms) <= TARGET_MEDIAN_MS)

    return Trial(lever, measured)


def share(name: str, verdict: PacketAction, chance: float, dials: int) -> Trial:
    """Of SYNs, since each of them is known: one a dial."""
    lever = FilterPackets(broker=1, flow="to_broker", only="syn", verdict=verdict, chance=chance, seed="1")

    async def measured(world: LocalWorld) -> Row:
        async with world.pull(lever) as pulled:
            await dial(dials)
            found = (await pulled.evidence()).amount / dials
        allowed = DEVIATIONS * (chance * (1 - chance) / dials) ** 0.5
        return Row(f"`{name}`", f"{chance:.0%}", f"{found:.1%} of {dials} packets", abs(found - chance) <= allowed)

    return Trial(lever, measured)


async def dial(number: int) -> None:
    """So many dials, some at once. One that is not connected soon is given up before its SYN is sent again."""
    for _ in range(0, number, AT_ONCE):
        await asyncio.gather(*(dial_once() for _ in range(AT_ONCE)))


async def dial_once() -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(0.5):
            _, writer = await asyncio.open_connection(*ADDRESS)
            writer.transport.abort()


def reorder(chance: float, delay_ms: int, seconds: float) -> Trial:
    """Of small segments on one connection, 500 a second: those that were held, for how long, and those overtaken.

    A sender that retransmits them, and waits meanwhile, has nothing to overtake some of them with.
    """
    lever = of_fault("reorder", {"chance": f"{chance:.0%}", "delay": f"{delay_ms}ms"})

    async def measured(world: LocalWorld) -> Row:
        held, sent_on = WholePackets(arriving_with(HELD_COPY | 1)), WholePackets(arriving_with(1))
        async with world.pull(lever) as pulled:
            segments = await flood(rate=500, connections=1, seconds=seconds)
            overtaken = (await pulled.evidence()).amount / segments
            came_ns = dict(identified(held))
            took_ms = [(at_ns - came_ns[packet]) / 1e6 for packet, at_ns in identified(sent_on)]
        found = len(took_ms) / segments
        declared = f"{chance:.0%} by {delay_ms} ms"
        achieved = f"{found:.1%} of {segments} packets, {typical(took_ms)}; {overtaken:.1%} were overtaken"
        allowed = DEVIATIONS * (chance * (1 - chance) / segments) ** 0.5
        return Row("`reorder`", declared, achieved, abs(found - chance) <= allowed and close(took_ms, delay_ms))

    return Trial(lever, measured)


def identified(packets: WholePackets) -> Iterator[tuple[bytes, int]]:
    """A packet's identification and sequence number, and when it was seen."""
    for packet, at_ns in packets.read():
        behind = 4 * (packet[0] & 0x0F)
        yield packet[4:6] + packet[behind + 4 : behind + 8], at_ns


def limit(rates: Sequence[int], seconds: float) -> list[Trial]:
    """Packets through a hold at growing rates."""
    lever = of_fault("latency", {"delay": "20ms", "via": "packets"})

    def at(rate: int) -> Trial:
        async def measured(world: LocalWorld) -> Row:
            async with world.pull(lever) as pulled:
                segments = await flood(rate=rate, connections=10, seconds=seconds)
                try:
                    said = (await pulled.evidence()).sentence()
                except WorldError as beyond:
                    said = beyond.text
            return Row("a hold", f"{rate} packets a second", f"{segments / seconds:.0f} sent a second: {said}")

        return Trial(lever, measured)

    return [at(rate) for rate in rates]


async def flood(*, rate: int, connections: int, seconds: float) -> int:
    """Send small segments from a process of its own; how many it has sent."""
    sender = await asyncio.create_subprocess_exec(
        sys.executable, "-S", str(FLOOD), ADDRESS[0], str(ADDRESS[1]), str(rate), str(connections), str(seconds),
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    said, _ = await sender.communicate()
    return int(said)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=100)
    parser.add_argument("--dials", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=4.0, help="of sending, for reorder and for each rate")
    parser.add_argument("--rates", type=int, nargs="*", default=[1000, 2000, 5000, 10_000, 20_000])
    parser.add_argument("--write", action="store_true", help=f"put the table into {ACHIEVED}")
    given = parser.parse_args(arguments)
    try:
        program = find()
    except ToxiproxyMissing as missing:
        print(missing.reason, file=sys.stderr)
        return 1

    def tried(trial: Trial) -> Row:
        async def body() -> Row:
            async with LocalWorld.opened(trial.plan, None, program, lambda: None) as world:
                return await trial.measure(world)

        return call_in_cell(body, timeout_s=600)

    load = ", ".join(f"{average:.2f}" for average in os.getloadavg())
    print(f"{machine()}, local, load {load}")
    trials = [
        *(latency(via, ms, 0, given.requests) for via in ("packets", "toxiproxy") for ms in (5, 50, 300)),
        *(latency(via, 50, 20, given.requests) for via in ("packets", "toxiproxy")),
        *(bandwidth(rate, kilobytes, 5) for rate, kilobytes in ((8, 16), (64, 128), (500, 900))),
        *(slicer(delay_us, 32) for delay_us in (100, 1_000, 1_500, 5_000)),
        *(share("loss", PacketAction.DROP, chance, given.dials) for chance in (0.01, 0.1, 0.5)),
        share("duplicate", PacketAction.DUPLICATE, 0.3, given.dials),
        reorder(0.25, 10, given.seconds),
    ]
    rows = [tried(trial) for trial in trials]
    for row in rows:
        print(f"{'ok  ' if row.reached else 'MISS'}  {row.line()}")
    for trial in limit(given.rates, given.seconds):
        print(f"      {tried(trial).line()}")
    if given.write:
        ACHIEVED.write_text("".join(f"{row.line()}\n" for row in rows))
    return 0 if all(row.reached for row in rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
