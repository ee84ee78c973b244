"""From a scenario to its runs: cells x repeats, each with an identity that survives a restart, and its own seed."""

import json
from dataclasses import asdict, replace
from hashlib import sha256
from typing import Any

from pydantic import BaseModel

from harness.language.scenario import Scenario
from harness.plan import RunPlan

UNIDENTIFIED = ("run_id", "attempt", "path")
"""Not part of a run's identity: the same run tried again, or read from another folder, stays the same run."""
PLACES = ("line",)
"""Nor are lines of the file: a comment changes no run."""
CHOSEN = ("real", "producer")
"""Of the client: part of a run's identity only where a scenario says it."""
SEED_BITS = 48
"""Seeds stay whole numbers in JSON and Spark."""


def plans(scenario: Scenario, *, environment: str, seed: int, repeat: int | None = None) -> tuple[RunPlan, ...]:
    """Every run of the scenario: repeats of a cell stand together, numbered from 1.

    `seed` is the suite's; `repeat` overrides the scenario's own. The same arguments give the same plans.
    """
    repeats = scenario.repeat if repeat is None else repeat
    if repeats < 1:
        raise ValueError(f"repeat is at least 1, not {repeats}")
    return tuple(
        _identified(replace(cell, environment=environment, repeat=number, seed=_seed(cell, seed, number)))
        for cell in scenario.cells
        for number in range(1, repeats + 1)
    )


def identity(plan: RunPlan) -> str:
    """First 12 hex digits of a SHA-256 over everything that makes the run what it is."""
    known = {key: value for key, value in _plain(plan).items() if key not in UNIDENTIFIED}
    known["client"] = {key: value for key, value in known["client"].items() if key not in CHOSEN or value}
    return sha256(_canonical(known)).hexdigest()[:12]


def _identified(plan: RunPlan) -> RunPlan:
    return replace(plan, run_id=identity(plan))


def _seed(cell: RunPlan, seed: int, number: int) -> int:
    """Environment and driver are left out: sim and local, profile and library see the same chance, and so do all of a
    profile's producers."""
    client = {key: value for key, value in asdict(cell.client).items() if key not in CHOSEN}
    known = [seed, cell.scenario, client, [asdict(parameter) for parameter in cell.parameters], number]
    return int.from_bytes(sha256(_canonical(known)).digest()[: SEED_BITS // 8], "big")


def _canonical(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str).encode()


def _plain(plan: RunPlan) -> dict[str, Any]:
    """The plan as JSON values; a fault brings its name, which is no field of it."""
    found: dict[str, Any] = _clean(asdict(plan, dict_factory=_without_places))
    return found


def _without_places(items: list[tuple[str, Any]]) -> dict[str, Any]:
    return {key: value for key, value in items if key not in PLACES}


def _clean(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return {"fault": getattr(type(value), "name", type(value).__name__), **value.model_dump(mode="json")}
    if isinstance(value, dict):
        return {key: _clean(item) for key, item in value.items()}
    return [_clean(item) for item in value] if isinstance(value, list | tuple) else value
