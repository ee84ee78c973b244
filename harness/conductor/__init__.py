"""One run: its steps in time, its faults injected and healed, its client called, and the story of all that."""

from harness.conductor.conduct import conduct

__all__ = ["conduct"]
