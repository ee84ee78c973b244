"""A scenario that has been read and found right."""

from dataclasses import dataclass
from pathlib import Path

from harness.plan import RunPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """`cells` are its plans without seed, environment, repeat and run_id, in the order of the matrix."""

    path: Path
    name: str
    about: str
    tags: tuple[str, ...]
    repeat: int
    cells: tuple[RunPlan, ...]

    @property
    def clients(self) -> tuple[str, ...]:
        """`sarama 1.27.2`, each once, in the order of the cells."""
        return tuple(dict.fromkeys(f"{cell.client.name} {cell.client.version}".strip() for cell in self.cells))

    @property
    def longest_s(self) -> float | None:
        """The longest cell by formula, None where no formula predicts a time."""
        return max((cell.predicted_s for cell in self.cells if cell.predicted_s is not None), default=None)
