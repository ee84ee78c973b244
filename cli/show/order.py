"""In which order faults are listed: what people come for stands first."""

from collections.abc import Iterable

FIRST = ("blackhole", "scale_down", "slow_dial")
"""Ports that go dark, brokers that leave the cluster, dials that are slow."""


def fault_rank(faults: Iterable[str]) -> int:
    """The place of the first of these among what people come for; behind them all for others."""
    return min((FIRST.index(fault) for fault in faults if fault in FIRST), default=len(FIRST))
