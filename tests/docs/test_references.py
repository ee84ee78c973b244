"""The pages that are made from code say what the code says; examples run, and show every key."""

import sys
from pathlib import Path

import pytest

from harness.brokers.embedded.handlers import handlers
from harness.language.loader import load
from harness.language.yaml.tree import MappingNode, SequenceNode, Tree, parse

sys.path.insert(0, str(Path(__file__).parents[2]))

from tools import broker_reference, scenario_reference
from tools.scenario_reference import EXAMPLES, SECTIONS, keys_of


@pytest.mark.parametrize("tool", [broker_reference, scenario_reference], ids=lambda tool: tool.PAGE.name)
def test_the_page_is_up_to_date(tool: object) -> None:
    name = tool.__name__.rpartition(".")[2]
    assert tool.PAGE.read_text(encoding="utf-8") == tool.page(), f"run: .venv/bin/python tools/{name}.py"


def test_every_api_says_how_it_behaves() -> None:
    text = broker_reference.page()
    for handler in handlers().values():
        section = text.split(f"### {handler.api.name}\n")[1].split("\n### ")[0]
        assert "\n- " in section, handler.api.name


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.name)
def test_an_example_is_a_scenario_without_a_mistake(file: Path) -> None:
    assert load(file).cells


def keys_in(tree: Tree) -> set[str]:
    if isinstance(tree, MappingNode):
        own = {str(entry.key.value) for entry in tree.entries.values()}
        return own.union(*(keys_in(entry.value) for entry in tree.entries.values()))
    if isinstance(tree, SequenceNode):
        return set().union(*(keys_in(item) for item in tree.items))
    return set()


def test_every_key_has_an_example() -> None:
    shown = set().union(*(keys_in(parse(file.read_text(encoding="utf-8"), file)[0]) for file in EXAMPLES))
    known = {key for _, model in SECTIONS.values() for key in keys_of(model)} | {"matrix"}
    assert known - shown == set()
