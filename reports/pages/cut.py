"""Long lists are cut, worst first, and say so: a page stays small however many runs it is about."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Cut(Generic[T]):
    """The first of `total` entries; `rest` says where all of them are, `worst_first` in which order they stand."""

    shown: tuple[T, ...]
    total: int
    rest: str = ""
    worst_first: bool = True

    def __iter__(self) -> Iterator[T]:
        return iter(self.shown)

    def __len__(self) -> int:
        return len(self.shown)

    @property
    def words(self) -> str:
        """`the first 200 of 10,000, the worst first; all of them are in report/runs.parquet`, or nothing."""
        if len(self.shown) == self.total:
            return ""
        order = ", the worst first" if self.worst_first else ""
        return f"the first {len(self.shown):,} of {self.total:,}{order}; all of them are in {self.rest}"


def cut(entries: Iterable[T], most: int, rest: str, *, worst_first: bool = True) -> Cut[T]:
    every: Sequence[T] = tuple(entries)
    return Cut(tuple(every[:most]), len(every), rest, worst_first)
