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


@pytest.fixture
def changed(tmp_path: Path) -> Callable[[str, str], CaseCatalogue]:
    """The library with one text in formulas.yaml replaced: what a formula that is wrong would look like."""

    def change(old: str, new: str) -> CaseCatalogue:
        folder = tmp_path / "scenarios" / "sarama"
        shutil.copytree(SCENARIOS / "sarama", folder)
        formulas = folder / "formulas.yaml"
        text = formulas.read_text()
        assert old in text
        formulas.write_text(text.replace(old, new, 1))
        return case_catalogues(tmp_path / "scenarios")["sarama"]

    return change
