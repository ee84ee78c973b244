"""The two worlds that a contract check runs in: a simulated network, and a fresh cell with real sockets."""

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random

from toolkit import ADDRESS, Check

from harness.environments.local.cell import call_in_cell
from harness.environments.sim.loop import SimLoop
from harness.environments.sim.rules import Rule
from harness.environments.sim.simulation import simulate
from harness.levers import Flow, Packets, Verdict
from harness.packets import TREAT, PacketTable, RuleGroup, rules_of

LIMIT_S = 90.0


class SimKit:
    """Everything happens when it is due."""

    slack_s = 0.001

    def __init__(self, loop: SimLoop) -> None:
        self._loop = loop

    @asynccontextmanager
    async def packets(
        self, flow: Flow, *, only: str = "any", verdict: Verdict = Verdict.DROP
    ) -> AsyncIterator["SimCounter"]:
        with self._loop.network.rule(Rule(ADDRESS, flow, only, verdict)) as rule:
            yield SimCounter(rule)

    @asynccontextmanager
    async def listening(self, *, backlog: int) -> AsyncIterator[None]:
        listener = self._loop.network.listen(ADDRESS, backlog)
        yield
        listener.close()


class SimCounter:
    def __init__(self, rule: Rule) -> None:
        self._rule = rule

    async def packets(self) -> int:
        return self._rule.packets


class CellKit:
    """Two cores, shared with other checks: what is due may come this much later."""

    slack_s = 0.3

    def __init__(self, table: PacketTable) -> None:
        self._table = table

    @asynccontextmanager
    async def packets(
        self, flow: Flow, *, only: str = "any", verdict: Verdict = Verdict.DROP
    ) -> AsyncIterator["CellCounter"]:
        lever = Packets(broker=1, flow=flow, only=only, verdict=verdict)
        group = await self._table.add(TREAT, [rule.expressions for rule in rules_of(lever, *ADDRESS)])
        try:
            yield CellCounter(group)
        finally:
            await group.remove()

    @asynccontextmanager
    async def listening(self, *, backlog: int) -> AsyncIterator[None]:
        with socket.create_server(ADDRESS, backlog=backlog):
            yield


class CellCounter:
    def __init__(self, group: RuleGroup) -> None:
        self._group = group

    async def packets(self) -> int:
        return sum(await self._group.counted())


def run_in_sim(check: Check) -> None:
    """On virtual time: ends at once. A check that hangs ends as a deadlock that says where."""
    simulate(lambda loop: check(SimKit(loop)), Random(11))


def run_in_cell(check: Check) -> None:
    """On real sockets, in a network namespace of its own."""

    async def body() -> None:
        table = PacketTable()
        await table.open()
        try:
            await check(CellKit(table))
        finally:
            table.close()

    call_in_cell(body, timeout_s=LIMIT_S)
