"""The contracts of imports find what they are there to find."""

import sys
from pathlib import Path

import grimp
import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from tools.import_contracts import AllowedImports, NoCycles

TABLE = {"lab.faults": ["lab.levers"], "lab.levers": [], "lab.judges": ["lab.faults"], "lab.judges.sums": []}

USED = [("lab.faults.pause", "lab.levers.signal"), ("lab.judges.point", "lab.faults.base")]


def graph(*imports: tuple[str, str]) -> grimp.ImportGraph:
    found = grimp.ImportGraph()
    for importer, imported in imports:
        found.add_import(importer=importer, imported=imported)
    return found


@pytest.mark.parametrize(
    ("importer", "imported", "problem"),
    [
        ("lab.faults.kill", "lab.levers.signal", None),
        ("lab.faults.kill", "lab.faults.base", None),
        ("lab.judges.group", "lab.faults.base", None),
        ("lab.judges.a", "lab.judges.sums", "lab.judges.a imports lab.judges.sums: lab.judges may import lab.faults"),
        ("lab.levers.x", "lab.faults.base", "lab.levers.x imports lab.faults.base: lab.levers may import nothing"),
        ("lab.faults.kill", "lab.world", "lab.faults.kill imports lab.world: lab.faults may import lab.levers"),
        ("lab.world", "lab.faults.kill", "lab.world belongs to no room: add a row"),
    ],
)  # fmt: skip
def test_a_room_imports_what_its_row_allows(importer: str, imported: str, problem: str | None) -> None:
    contract = AllowedImports("rooms", {}, {"rooms": TABLE})
    found = contract.check(graph((importer, imported), *USED), verbose=False)
    assert found.kept is (problem is None)
    assert found.metadata["problems"] == ([] if problem is None else [problem])


def test_a_row_allows_nothing_that_is_not_imported() -> None:
    found = AllowedImports("rooms", {}, {"rooms": TABLE}).check(graph(*USED[:1]), verbose=False)
    assert found.metadata["problems"] == ["lab.judges does not import lab.faults: take it out of the row"]


def test_rooms_that_import_one_another_are_refused() -> None:
    table = {"lab.faults": ["lab.levers"], "lab.levers": ["lab.world"], "lab.world": ["lab.faults"]}
    problem, *_ = AllowedImports("rooms", {}, {"rooms": table}).check(graph(), verbose=False).metadata["problems"]
    assert problem.startswith("rooms import one another: ")
    assert problem.count("->") == 3


def test_a_cycle_is_found_wherever_its_files_are() -> None:
    """The graph is that of the client, so that imports for types can be told from others."""
    client = grimp.build_graph("client")
    contract = NoCycles("cycles", {}, {"types_only": {"client.profiles.sarama": "mirrors one Go package"}})
    assert contract.check(client, verbose=False).kept
    client.add_import(importer="client.errors", imported="client.settings")
    found = contract.check(client, verbose=False)
    assert not found.kept
    assert {"client.errors", "client.settings"} <= set(found.metadata["cycle"])


def test_imports_for_types_count_unless_the_table_excuses_them() -> None:
    assert not NoCycles("cycles", {}, {"types_only": {}}).check(grimp.build_graph("client"), verbose=False).kept
