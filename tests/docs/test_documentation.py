"""Protects the documentation from drifting: every dependency has its reason, every path and link it names exists."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])


def lines() -> list[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return [*project["dependencies"], *(line for extra in project["optional-dependencies"].values() for line in extra)]


def declared() -> set[str]:
    return {re.split(r"[<>=~!\[ ]", line, maxsplit=1)[0].lower() for line in lines()}


def test_every_dependency_is_explained_and_nothing_else() -> None:
    table = (ROOT / "docs" / "DEPENDENCIES.md").read_text().split("## Programs")[0]
    explained = {name.lower() for name in re.findall(r"^\| ([\w.\-]+) \|", table, re.MULTILINE)} - {"package", "---"}
    assert explained == declared()


def test_every_dependency_has_a_range() -> None:
    for line in lines():
        assert ">=" in line, f"{line} has no lower bound"


def test_constraints_name_no_host_and_hash_everything() -> None:
    text = (ROOT / "constraints.txt").read_text()
    assert "://" not in text
    for block in re.split(r"\n(?=\S)", text.strip()):
        assert "--hash=sha256:" in block, block


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_and_paths_exist(page: Path) -> None:
    text = page.read_text()
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
    for target in re.findall(
        r"(?<![\w/.])((?:docs|harness|client|reports|cli|scenarios)/[\w./-]+\.(?:md|py|yaml))", text
    ):
        assert (ROOT / target).exists(), f"{page.name} names {target}"


def test_every_make_target_is_described() -> None:
    text = (ROOT / "Makefile").read_text()
    phony = set(re.findall(r"^\.PHONY: (.*)$", text, re.MULTILINE)[0].split())
    described = set(re.findall(r"^([a-z-]+):.*##", text, re.MULTILINE))
    assert phony == described


@pytest.mark.parametrize("root", ["harness", "client"])
def test_every_room_is_in_the_architecture(root: str) -> None:
    text = (ROOT / "docs" / "ARCHITECTURE.md").read_text().split("## A run, from file to verdict")[0]
    rooms = {path.parent.name for path in (ROOT / root).glob("*/__init__.py")}
    assert rooms
    assert {room for room in rooms if not re.search(rf"\b{room}\b", text)} == set()
