"""Long lists are cut, worst first, and say so: a page stays small however many runs it is about."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Truncated(Generic[T]):
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
        """`the 200 worst of 10,000; all of them are in report/runs.parquet`, or nothing."""
        if len(self.shown) == self.total:
            return ""
        which = f"the {len(self.shown):,} worst" if self.worst_first else f"the first {len(self.shown):,}"
        return f"{which} of {self.total:,}; all of them are in {self.rest}"


def truncate(entries: Iterable[T], most: int, rest: str, *, worst_first: bool = True) -> Truncated[T]:
    every: Sequence[T] = tuple(entries)
    return Truncated(tuple(every[:most]), len(every), rest, worst_first)
