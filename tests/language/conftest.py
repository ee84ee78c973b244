"""Ways into the language that its tests share."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.language import Problem, Problems, Scenario, loads

BASE = Path(__file__).with_name("base.scenario.yaml").read_text()
PLACE = Path("scenarios/sarama/test.scenario.yaml")


class Changed:
    """The base scenario with some of its text replaced; every replacement has to find its text."""

    def __init__(self, *changes: tuple[str, str]) -> None:
        text = BASE
        for old, new in changes:
            assert old in text, old
            text = text.replace(old, new)
        self.text = text

    def load(self) -> Scenario:
        return loads(self.text, PLACE)

    def problems(self) -> tuple[Problem, ...]:
        with pytest.raises(Problems) as caught:
            self.load()
        return caught.value.problems

    def only(self) -> Problem:
        problems = self.problems()
        assert len(problems) == 1, problems
        return problems[0]

    def underlined(self, problem: Problem) -> str:
        return re.split(r"\r\n|\n|\r", self.text)[problem.line - 1][problem.column - 1 :][: problem.length]


@pytest.fixture
def changed() -> Callable[..., Changed]:
    return Changed
