"""Protects the walk over a bootstrap list: every order of up to eight addresses, against what chance makes of it."""

from collections.abc import MutableSequence
from itertools import combinations
from random import Random
from typing import Any

import pytest
from kafka_go_lab import ROUND_TRIPS_S, V8, V50, Lab, address, on_virtual_time

from client.profiles import profile

DIAL_S, WALK_S = 3.0, 5.0
LONGEST = 8
LISTS = [(dead, count - dead) for count in range(1, LONGEST + 1) for dead in range(count + 1)]


class Ordered(Random):
    """Shuffles a list so that `met` of the dead addresses come first, then the live ones, then the other dead ones."""

    def __init__(self, met: int, live: int) -> None:
        super().__init__(7)
        self._met, self._live = met, {address(broker) for broker in range(1, live + 1)}

    def shuffle(self, x: MutableSequence[Any]) -> None:
        dead = [one for one in x if one not in self._live]
        x[:] = [*dead[: self._met], *(one for one in x if one in self._live), *dead[self._met :]]


@pytest.mark.parametrize("version", [V8, V50])
def test_every_order_ends_as_its_dead_addresses_say(version: str) -> None:
    """One deadline for all of them: a live address behind two dead ones comes too late."""
    ends: dict[tuple[int, int, int], float | None] = {}

    async def check(lab: Lab) -> None:
        bootstrap = range(1, live + dead + 1)
        program = await lab.program(bootstrap, Writer_BatchSize=1, Transport_MetadataTTL=3600.0).connect()
        with lab.dark(*bootstrap[live:]):
            took_s, error = await program.ended(program.send("probe"))
        ends[dead, live, met] = None if error is not None else took_s
        wait_s = min(WALK_S, met * DIAL_S) if error is None or live else min(WALK_S, dead * DIAL_S)
        assert took_s == pytest.approx(wait_s, abs=ROUND_TRIPS_S), (dead, live, met)

    for dead, live in LISTS:
        for met in range(min(dead, 3) + 1) if live else (dead,):
            on_virtual_time(check, version, brokers=max(live, 1), rng=Ordered(met, live))
    assert {key for key, end in ends.items() if end is None} == {key for key in ends if key[2] > 1 or not key[1]}


@pytest.mark.parametrize(("dead", "live"), [pair for pair in LISTS if pair[1]])
def test_the_formulas_count_the_orders_of_a_list(dead: int, live: int) -> None:
    """By counting where the live addresses may stand."""
    one = profile("kafka-go")
    settings = one.settings.resolve({}, V8)
    first = [min(places) for places in combinations(range(dead + live), live)]
    for met in range(dead + 1):
        share = first.count(met) / len(first) if met < 2 else 0.0
        assert one.functions["walk_delay_share"](met, dead, live, settings) == pytest.approx(share)
    late = sum(met > 1 for met in first) / len(first)
    assert one.functions["walk_failure_share"](dead, live, settings) == pytest.approx(late)
