"""Plans the runs of a scenario: cells x repeats, each with a seed, and with an identity that survives a restart."""

from collections.abc import Iterator
from dataclasses import replace

from harness.language.identity import canonical, digest, members, run_seeds
from harness.language.scenario import Scenario
from harness.plan import RunPlan

REPEATED = ("environment", "repeat", "seed")
"""All that differs between a cell and one of its runs."""


def plans(scenario: Scenario, *, environment: str, seed: int, repeat: int | None = None) -> tuple[RunPlan, ...]:
    """Every run of the scenario. Repeats of a cell are adjacent and numbered from 1.

    `seed` is the suite's; `repeat` overrides the scenario's own. The same arguments give the same plans.
    """
    repeats = scenario.repeat if repeat is None else repeat
    if repeats < 1:
        raise ValueError(f"repeat is at least 1, not {repeats}")
    return tuple(plan for cell in scenario.cells for plan in _repeats(cell, environment, seed, repeats))


def _repeats(cell: RunPlan, environment: str, seed: int, repeats: int) -> Iterator[RunPlan]:
    """The parts that all repeats of a cell share, which is nearly everything, are put into hashable form once."""
    common = members(cell)
    for number, run_seed in run_seeds(cell, seed, range(1, repeats + 1)):
        plan = replace(cell, environment=environment, repeat=number, seed=run_seed)
        own = {key: canonical(getattr(plan, key)) for key in REPEATED}
        yield replace(plan, run_id=digest({**common, **own}))
