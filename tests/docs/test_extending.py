"""docs/EXTENDING.md says what the registries hold, and names a file for every kind."""

import sys
from pathlib import Path

import pytest

from client.extensions import KINDS as ENTRY_POINTS

sys.path.insert(0, str(Path(__file__).parents[2]))

from tools.extending import KINDS, PAGE, ROOT, Kind, page


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: .venv/bin/python tools/extending.py"


def test_there_is_a_section_for_every_kind_of_entry_point() -> None:
    assert sorted(kind.kind for kind in KINDS) == sorted(ENTRY_POINTS)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
def test_each_kind_has_files_and_things(kind: Kind) -> None:
    for file in (*kind.contract.split(", "), kind.example):
        assert (ROOT / file).is_file(), file
    assert list(kind.registered())
