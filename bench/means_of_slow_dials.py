"""What a dial and its first answer take by each means that people use to make dials slow: the table of docs/FAULTS.md.

    .venv/bin/python bench/means_of_slow_dials.py [--tries 7]

Each means is set to half a second, in a cell of its own with a real Toxiproxy.
"""

import argparse
import asyncio
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass

from bench.lab_error import BASE
from harness.environments.linux import addresses
from harness.environments.linux.packets import TREAT, PacketTable, rules_for
from harness.environments.local.cell import call_in_cell
from harness.environments.local.world import LocalWorld
from harness.environments.probe import ask
from harness.faults import FAULTS
from harness.levers import FilterPackets, Lever, PacketAction, Toxic
from harness.stats import median
from harness.toxiproxy.obtain import ToxiproxyMissing, find

HALF_S = 0.5
NEW_ALONE = FilterPackets(broker=1, flow="to_broker", only="syn", verdict=PacketAction.DROP)


def toxic(**flow: str) -> Lever:
    return Toxic(broker=1, kind="latency", attributes=(("latency", round(HALF_S * 1000)),), **flow)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Means:
    """`lever` is pulled, and `dark` hosts get no SYN, for as long as `lasts_s` says."""

    name: str
    lever: Lever | None = None
    dark: Callable[[int], tuple[str, int]] | None = None
    lasts_s: float = 60.0


MEANS = (
    Means("nothing"),
    Means("Toxiproxy, latency upstream", toxic(flow="to_broker")),
    Means("Toxiproxy, latency downstream", toxic(flow="to_client")),
    Means("Toxiproxy, its own dials dropped for so long", dark=addresses.broker, lasts_s=HALF_S),
    Means("SYNs dropped for so long", NEW_ALONE, lasts_s=HALF_S),
    Means("`slow_dial`", FAULTS["slow_dial"].model_validate({"delay": "500ms"}).stages(BASE.cluster.view())[0].lever),
)


async def measured_s(world: LocalWorld, table: PacketTable, means: Means) -> tuple[float, float]:
    """How long a dial takes, and then the first answer."""
    async with AsyncExitStack() as undone:
        if means.lever is not None:
            await undone.enter_async_context(world.pull(means.lever))
        if means.dark is not None:
            rules = rules_for(NEW_ALONE, *means.dark(1))
            undone.push_async_callback((await table.add(TREAT, [rule.expressions for rule in rules])).remove)
        address, began_s = addresses.advertised_address(1), time.monotonic()
        asking = asyncio.create_task(dial_and_ask(address, began_s))
        with suppress(TimeoutError):
            async with asyncio.timeout(means.lasts_s):
                await asyncio.shield(asking)
    return await asking


async def dial_and_ask(address: tuple[str, int], began_s: float) -> tuple[float, float]:
    reader, writer = await asyncio.open_connection(*address)
    dialled_s = time.monotonic() - began_s
    await ask(address, reader, writer)
    writer.transport.abort()
    return dialled_s, time.monotonic() - began_s - dialled_s


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tries", type=int, default=7)
    given = parser.parse_args(arguments)
    try:
        program = find()
    except ToxiproxyMissing as missing:
        print(missing.reason, file=sys.stderr)
        return 1

    async def tried(means: Means) -> list[tuple[float, float]]:
        async with LocalWorld.opened(BASE, None, program, lambda: None) as world:
            table = PacketTable()
            await table.open()
            return [await measured_s(world, table, means) for _ in range(given.tries)]

    print("| means | the dial | the first answer |\n| --- | ---: | ---: |")
    for means in MEANS:
        found = call_in_cell(lambda means=means: tried(means), timeout_s=120)  # type: ignore[misc]
        dial_s, answer_s = (median([pair[place] for pair in found]) for place in (0, 1))
        print(f"| {means.name} | {dial_s * 1000:.1f} ms | {answer_s * 1000:.1f} ms |")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
