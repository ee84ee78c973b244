"""Scenarios drawn by chance, one after the other, each from the seed and its place alone."""

import io
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from random import Random
from typing import NamedTuple

from ruamel.yaml import YAML

from tools.fidelity_random.chance import Scenario
from tools.fidelity_random.clients import CLIENTS


class Draw(NamedTuple):
    """A scenario's name and the text of its file."""

    name: str
    text: str

    def write(self, folder: Path) -> Path:
        path = folder / f"{self.name}.scenario.yaml"
        path.write_text(self.text, encoding="utf-8")
        return path


def draws(client: str, seed: int) -> Iterator[Draw]:
    """Without end. The same client and seed draw the same; nothing else is asked, no profile and no simulation."""
    for place in count(1):
        drawn = CLIENTS[client](Random(f"{client}/{seed}/{place}"))
        name = f"random-{place:03d}"
        yield Draw(name, _text({"format": 1, "scenario": name, "about": "Drawn by chance.", **drawn}))


def _text(scenario: Scenario) -> str:
    yaml, out = YAML(typ="safe", pure=True), io.StringIO()
    yaml.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    yaml.representer.ignore_aliases = lambda _: True
    yaml.dump(scenario, out)
    return out.getvalue()
