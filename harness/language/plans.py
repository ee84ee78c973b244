"""From a scenario to its runs: cells x repeats, each with an identity that survives a restart, and its own seed."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields, is_dataclass, replace
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
OWN = ("environment", "repeat", "seed")
"""All that tells a repeat from its cell."""
SEED_BITS = 48
"""Seeds stay whole numbers in JSON and Spark."""


def plans(scenario: Scenario, *, environment: str, seed: int, repeat: int | None = None) -> tuple[RunPlan, ...]:
    """Every run of the scenario: repeats of a cell stand together, numbered from 1.

    `seed` is the suite's; `repeat` overrides the scenario's own. The same arguments give the same plans.
    """
    repeats = scenario.repeat if repeat is None else repeat
    if repeats < 1:
        raise ValueError(f"repeat is at least 1, not {repeats}")
    return tuple(plan for cell in scenario.cells for plan in _repeats(cell, environment, seed, repeats))


def identity(plan: RunPlan) -> str:
    """First 12 hex digits of a SHA-256 over everything that makes the run what it is."""
    return _digest(_known(plan))


def _repeats(cell: RunPlan, environment: str, seed: int, repeats: int) -> Iterator[RunPlan]:
    """What repeats of a cell have in common is told once: it is nearly all of them."""
    common = _known(cell)
    client = {key: value for key, value in asdict(cell.client).items() if key not in CHOSEN}
    parameters = [asdict(parameter) for parameter in cell.parameters]
    for number in range(1, repeats + 1):
        # Environment and driver are left out: sim and local, profile and library see the same chance, and so do all
        # of a profile's producers.
        chance = sha256(_canonical([seed, cell.scenario, client, parameters, number])).digest()
        own_seed = int.from_bytes(chance[: SEED_BITS // 8], "big")
        plan = replace(cell, environment=environment, repeat=number, seed=own_seed)
        own = {key: _canonical(getattr(plan, key)) for key in OWN}
        yield replace(plan, run_id=_digest({**common, **own}))


def _known(plan: RunPlan) -> dict[str, bytes]:
    """Everything that makes the run what it is, in canonical form."""
    known = {one.name: _plain(getattr(plan, one.name)) for one in fields(plan) if one.name not in UNIDENTIFIED}
    known["client"] = {key: value for key, value in known["client"].items() if key not in CHOSEN or value}
    return {key: _canonical(value) for key, value in known.items()}


def _digest(known: Mapping[str, bytes]) -> str:
    """The hash of the object that has these members: joined as `_canonical` would have written it."""
    members = b",".join(_canonical(key) + b":" + known[key] for key in sorted(known))
    return sha256(b"{" + members + b"}").hexdigest()[:12]


def _canonical(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str).encode()


def _plain(value: Any) -> Any:
    """The plan as JSON values; a fault brings its name, which is no field of it."""
    if isinstance(value, str | int | float | None):
        return value
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, BaseModel):
        return {"fault": getattr(type(value), "name", type(value).__name__), **value.model_dump(mode="json")}
    if is_dataclass(value):
        return {one.name: _plain(getattr(value, one.name)) for one in fields(value) if one.name not in PLACES}
    return value
