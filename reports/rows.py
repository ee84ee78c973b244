"""A table's rows as mappings that take next to no memory: a value becomes a Python object when it is asked for.

A hundred thousand runs as dictionaries take gigabytes; a page looks at each run's verdict, and at all of few runs.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, overload

import pyarrow as pa
import pyarrow.types as kinds


class Rows(Sequence[Mapping[str, Any]]):
    """The rows of an Arrow table."""

    def __init__(self, table: pa.Table) -> None:
        self._columns = Columns(table)
        self._count: int = table.num_rows

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return (Row(self._columns, place) for place in range(self._count))

    @overload
    def __getitem__(self, place: int) -> Mapping[str, Any]: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Mapping[str, Any]]: ...
    def __getitem__(self, place: int | slice) -> Mapping[str, Any] | Sequence[Mapping[str, Any]]:
        found = range(self._count)[place]
        return Row(self._columns, found) if isinstance(found, int) else [Row(self._columns, one) for one in found]


class Row(Mapping[str, Any]):
    """One row: the same items as in the table's `to_pylist`."""

    __slots__ = ("_columns", "_place")

    def __init__(self, columns: "Columns", place: int) -> None:
        self._columns = columns
        self._place = place

    def __getitem__(self, name: str) -> Any:
        return self._columns[name][self._place]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns.names)

    def __len__(self) -> int:
        return len(self._columns.names)


class Columns(dict[str, Any]):
    """Columns by name, each made ready when it is first asked for."""

    def __init__(self, table: pa.Table) -> None:
        super().__init__()
        self._table = table
        self.names: Sequence[str] = table.column_names

    def __missing__(self, name: str) -> Any:
        column = self._table[name]  # raises KeyError
        self[name] = found = NestedColumn(column) if kinds.is_nested(column.type) else flat_values(column)
        return found


class NestedColumn:
    """Lists and records are made anew each time."""

    def __init__(self, column: pa.ChunkedArray) -> None:
        self._column = column

    def __getitem__(self, place: int) -> Any:
        return self._column[place].as_py()


def flat_values(column: pa.ChunkedArray) -> list[Any]:
    """Texts that are the same are one object."""
    if not kinds.is_string(column.type):
        return list(column.to_pylist())
    coded = column.dictionary_encode().unify_dictionaries().combine_chunks()
    texts = [*coded.dictionary.to_pylist(), None]
    return [texts[-1 if code is None else code] for code in coded.indices.to_pylist()]
