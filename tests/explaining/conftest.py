"""What every test of this room asks with: the bundled cases, and the simulation itself; nothing stands in for it."""

import shutil
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import pytest

from harness.conductor import conduct
from harness.environments.sim.environment import SimEnvironment
from harness.explaining import CaseCatalogue, Simulate, case_catalogues

SCENARIOS = Path(str(files("scenarios")))


@pytest.fixture(scope="session")
def simulate() -> Simulate:
    sim = SimEnvironment(conduct)
    return lambda plan: sim.run(plan, lambda _: None, None)


@pytest.fixture(scope="session")
def sarama() -> CaseCatalogue:
    return case_catalogues(SCENARIOS)["sarama"]


@pytest.fixture(scope="session")
def kafka_go() -> CaseCatalogue:
    return case_catalogues(SCENARIOS)["kafka-go"]


@pytest.fixture
def changed(tmp_path: Path) -> Callable[[str, str], CaseCatalogue]:
    """The library with one text in formulas.yaml replaced: what a formula that is wrong would look like."""
    return lambda old, new: with_change("sarama", tmp_path, old, new)


@pytest.fixture
def changed_kafka_go(tmp_path: Path) -> Callable[[str, str], CaseCatalogue]:
    """The same of kafka-go's."""
    return lambda old, new: with_change("kafka-go", tmp_path, old, new)


def with_change(client: str, folder: Path, old: str, new: str) -> CaseCatalogue:
    scenarios = folder / "scenarios" / client
    shutil.copytree(SCENARIOS / client, scenarios)
    formulas = scenarios / "formulas.yaml"
    text = formulas.read_text()
    assert old in text
    formulas.write_text(text.replace(old, new, 1))
    return case_catalogues(folder / "scenarios")[client]
