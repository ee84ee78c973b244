"""How many toy runs a CPU second the simulated loop and its TCP make, without codec, client, conductor and records.

A toy run: a request and its answer on an established connection, the link drops everything, the next
request waits for its answer until a read time-out, three dials time out with back-offs between, the link is healed.

    .venv/bin/python bench/sim_loop.py [--profile]
"""

import argparse
import asyncio
import cProfile
import pstats
import time
from collections.abc import Sequence
from random import Random

from harness.environments.sim.loop import SimLoop
from harness.environments.sim.rules import PacketRule
from harness.environments.sim.simulation import simulate
from harness.levers import PacketAction

ADDRESS = ("127.0.2.1", 9092)
READ_TIMEOUT_S, DIAL_TIMEOUT_S, BACKOFF_S, DIALS = 2.0, 1.0, 0.25, 3


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while request := await reader.read(1000):
        writer.write(request)
        await writer.drain()
    writer.close()


async def within(limit_s: float, loop: SimLoop, work: object) -> None:
    try:
        async with asyncio.timeout_at(loop.time() + limit_s):
            await work  # type: ignore[misc]
    except TimeoutError:
        return
    raise AssertionError("the link was not dark")


async def toy(loop: SimLoop) -> float:
    broker = loop.new_host("broker")
    await broker.spawn(asyncio.start_server(answer, *ADDRESS), name="listen")
    reader, writer = await asyncio.open_connection(*ADDRESS)
    writer.write(b"warm up")
    await reader.readexactly(7)
    began_s = loop.time()
    with (
        loop.network.rule(PacketRule(ADDRESS, "to_broker", "any", PacketAction.DROP)),
        loop.network.rule(PacketRule(ADDRESS, "to_client", "any", PacketAction.DROP)),
    ):
        writer.write(b"request")
        await writer.drain()
        await within(READ_TIMEOUT_S, loop, reader.readexactly(7))
        writer.transport.abort()
        for _ in range(DIALS):
            await within(DIAL_TIMEOUT_S, loop, asyncio.open_connection(*ADDRESS))
            await asyncio.sleep(BACKOFF_S)
    took_s = loop.time() - began_s
    broker.kill()
    return took_s


def runs_per_second(seconds: float) -> float:
    runs = 0
    began_s = time.process_time()
    while time.process_time() - began_s < seconds:
        took_s = simulate(toy, Random(1))
        assert abs(took_s - (READ_TIMEOUT_S + DIALS * (DIAL_TIMEOUT_S + BACKOFF_S))) < 1e-6
        runs += 1
    return runs / (time.process_time() - began_s)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--profile", action="store_true", help="where the time goes, instead of how much it is")
    if parser.parse_args(arguments).profile:
        profile = cProfile.Profile()
        profile.runcall(runs_per_second, 2.0)
        pstats.Stats(profile).sort_stats("tottime").print_stats(25)
        return
    measured = sorted(runs_per_second(1.0) for _ in range(5))
    print(f"toy blackhole: {measured[2]:.0f} runs a CPU second (median of 5; {measured[0]:.0f} to {measured[-1]:.0f})")


if __name__ == "__main__":
    main()
