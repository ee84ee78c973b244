"""One run: its steps in time, its faults pulled and healed, its subject spoken to, and the story of all that."""

from harness.conductor.conduct import conduct

__all__ = ["conduct"]
