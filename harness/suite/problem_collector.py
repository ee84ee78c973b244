"""Problems of several files, gathered so that all of them are said at once."""

from collections.abc import Iterable
from pathlib import Path

from harness.language import Problem, Problems


class ProblemCollector:
    """Starts empty; `raise_any` at the end."""

    def __init__(self) -> None:
        self._problems: list[Problem] = []
        self._sources: dict[Path, str] = {}

    def add(self, problems: Problems) -> None:
        self._problems += problems.problems
        self._sources |= problems.sources

    def extend(self, problems: Iterable[Problem]) -> None:
        self._problems += problems

    def combined(self) -> Problems | None:
        """None where nothing is wrong."""
        return Problems(self._problems, self._sources) if self._problems else None

    def raise_any(self) -> None:
        """Raises Problems where there are any."""
        if (problems := self.combined()) is not None:
            raise problems
