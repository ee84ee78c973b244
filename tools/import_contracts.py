"""Two kinds of import-linter contracts: what each room may import, and no cycles between files (pyproject.toml)."""

from graphlib import CycleError, TopologicalSorter
from typing import Any

import grimp
from importlinter.application import output
from importlinter.domain.contract import Contract, ContractCheck
from importlinter.domain.fields import Field, ValidationError


class TableField(Field[dict[str, Any]]):
    """A table of TOML."""

    def parse(self, raw_data: object) -> dict[str, Any]:
        if not isinstance(raw_data, dict):
            raise ValidationError("Expected a table.")
        return raw_data


class AllowedImports(Contract):
    """Every module belongs to the room with the longest matching name, and imports only what its room may import.

    `rooms` maps a room to the other rooms that it may import. Rooms do not import one another.
    What a row allows is imported, so that the table says how things are.
    """

    rooms: Any = TableField()

    def check(self, graph: grimp.ImportGraph, verbose: bool) -> ContractCheck:
        problems = self._cycles()
        unused = {(room, other) for room, others in self.rooms.items() for other in others}
        for module in sorted(graph.modules):
            room = self._room_of(module)
            if room is None:
                if graph.find_modules_directly_imported_by(module):
                    problems.append(f"{module} belongs to no room: add a row")
                continue
            for imported in sorted(graph.find_modules_directly_imported_by(module)):
                allowed, other = self.rooms[room], self._room_of(imported)
                if other in allowed:
                    unused.discard((room, other))
                elif other != room:
                    problems.append(f"{module} imports {imported}: {room} may import {', '.join(allowed) or 'nothing'}")
        problems += [f"{room} does not import {other}: take it out of the row" for room, other in sorted(unused)]
        return ContractCheck(kept=not problems, metadata={"problems": problems})

    def render_broken_contract(self, check: ContractCheck) -> None:
        for problem in check.metadata["problems"]:
            output.print_error(problem)

    def _cycles(self) -> list[str]:
        """One cycle of rooms, none where there is none."""
        try:
            TopologicalSorter(self.rooms).prepare()
        except CycleError as error:
            return [f"rooms import one another: {' -> '.join(reversed(error.args[1]))}"]
        return []

    def _room_of(self, module: str) -> str | None:
        return max((room for room in self.rooms if _inside(module, room)), key=len, default=None)


class NoCycles(Contract):
    """No file imports itself by way of others, not even for its types.

    `types_only` maps packages to the reason why imports for types alone may form cycles inside them.
    """

    types_only: Any = TableField()

    def check(self, graph: grimp.ImportGraph, verbose: bool) -> ContractCheck:
        roots = sorted({module.partition(".")[0] for module in graph.modules})
        at_run_time = grimp.build_graph(*roots, exclude_type_checking_imports=True)
        imports = {module: self._counted(module, graph, at_run_time) for module in graph.modules}
        try:
            TopologicalSorter(imports).prepare()
        except CycleError as error:
            return ContractCheck(kept=False, metadata={"cycle": list(reversed(error.args[1]))})
        return ContractCheck(kept=True)

    def render_broken_contract(self, check: ContractCheck) -> None:
        output.print_error(" -> ".join(check.metadata["cycle"]))

    def _counted(self, module: str, graph: grimp.ImportGraph, at_run_time: grimp.ImportGraph) -> set[str]:
        room = next((name for name in self.types_only if _inside(module, name)), None)
        imported = graph.find_modules_directly_imported_by(module)
        if room is None:
            return imported
        needed = at_run_time.find_modules_directly_imported_by(module)
        return {name for name in imported if name in needed or not _inside(name, room)}


def _inside(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")
