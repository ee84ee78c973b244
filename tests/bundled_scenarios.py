"""The bundled scenarios, read by the first test that asks: at import, every worker would, whatever it runs."""

from functools import cache
from pathlib import Path

from harness.language import Scenario, find, load

FOLDER = Path(__file__).parents[1] / "scenarios"


@cache
def bundled_scenarios() -> dict[str, Scenario]:
    """By name."""
    return {scenario.name: scenario for scenario in map(load, find([FOLDER]))}
