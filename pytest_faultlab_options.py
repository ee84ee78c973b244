"""The options of the pytest plugin, from pytest's command line or its configuration file."""

from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

from pytest_faultlab_engine import ENGINE_IS_HERE

ENVIRONMENTS = ("auto", "sim", "local")
EXTENSIONS = "faultlab.extensions"
"""The entry points through which other installed packages add environments, among others."""
POLICIES = ("fail", "skip")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the command line, else the configuration file says; None: as each scenario or faultlab itself has it."""

    environment: str
    repeat: int | None
    seed: int | None
    out: Path | None
    inconclusive: str
    engine: str | None

    @classmethod
    def of(cls, config: pytest.Config) -> "Options":
        """Raises pytest.UsageError for values that cannot be."""
        out, engine = _path(config, "out"), _option(config, "engine")
        return cls(
            environment=_environment(_option(config, "env") or "auto"),
            repeat=_number(config, "repeat", least=1),
            seed=_number(config, "seed", least=0),
            out=out,
            inconclusive=_choice("inconclusive", _option(config, "inconclusive") or "fail", POLICIES),
            engine=str(_path(config, "engine")) if "/" in engine else engine or None,
        )

    def arguments(
        self, environment: str | None = None, repeat: int | None = None, seed: int | None = None
    ) -> list[str]:
        """The engine's options, each replaced by the one that is given here."""
        repeat, seed = self.repeat if repeat is None else repeat, self.seed if seed is None else seed
        said = ["--env", environment or self.environment]
        said += [] if repeat is None else ["--repeat", str(repeat)]
        return said + ([] if seed is None else ["--seed", str(seed)])


def _option(config: pytest.Config, name: str) -> str:
    return str(config.getoption(f"faultlab_{name}") or config.getini(f"faultlab_{name}") or "")


def _path(config: pytest.Config, name: str) -> Path | None:
    """Where the user stands, or where the configuration file is."""
    text = _option(config, name)
    where = config.invocation_params.dir if config.getoption(f"faultlab_{name}") else config.rootpath
    return where / Path(text).expanduser() if text else None


def _environment(name: str) -> str:
    """Packages may add others, which the engine knows: it refuses a wrong name of those."""
    added = entry_points(group=EXTENSIONS, name="environments") or not ENGINE_IS_HERE
    return name if added else str(_choice("env", name, ENVIRONMENTS))


def _choice(name: str, value: str, values: Iterable[Any]) -> Any:
    if value not in values:
        raise pytest.UsageError(f"faultlab_{name} is {' or '.join(values)}, not {value}")
    return value


def _number(config: pytest.Config, name: str, *, least: int) -> int | None:
    text = _option(config, name)
    if text and (not text.isdecimal() or int(text) < least):
        raise pytest.UsageError(f"faultlab_{name} is a whole number from {least}, not {text}")
    return int(text) if text else None
