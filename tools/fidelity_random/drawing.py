"""Scenarios drawn by chance, one after the other, each from the seed and its place alone."""

import io
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from random import Random
from typing import NamedTuple

from ruamel.yaml import YAML

from harness.language.yaml.files import SCENARIO_SUFFIX
from tools.fidelity_random.chance import Scenario
from tools.fidelity_random.clients import CLIENTS


class Draw(NamedTuple):
    """A scenario's name and the text of its file."""

    name: str
    text: str

    @property
    def file(self) -> str:
        return f"{self.name}{SCENARIO_SUFFIX}"

    def write(self, folder: Path) -> Path:
        path = folder / self.file
        path.write_text(self.text, encoding="utf-8")
        return path


def draws(client: str, seed: int) -> Iterator[Draw]:
    """Without end. The same client and seed draw the same; nothing else is asked, no profile and no simulation."""
    for place in count(1):
        drawn = CLIENTS[client](Random(f"{client}/{seed}/{place}"))
        name = f"random-{place:03d}"
        yield Draw(name, _text({"format": 1, "scenario": name, "about": "Drawn by chance.", **drawn}))


def is_drawn_by(client: str, seed: int, folder: Path) -> bool:
    """Whether the first of the scenarios below the folder is what this client and seed draw."""
    first = next(draws(client, seed))
    return any(file.read_text(encoding="utf-8") == first.text for file in folder.rglob(first.file))


def _text(scenario: Scenario) -> str:
    yaml, out = YAML(typ="safe", pure=True), io.StringIO()
    yaml.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    yaml.representer.ignore_aliases = lambda _: True
    yaml.dump(scenario, out)
    return out.getvalue()
