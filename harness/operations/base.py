"""What an operation is: a call that the lab asks of a subject and times, and how the subject is asked."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from client.registry import Registry
from harness.plan import PlannedOperation, RunPlan
from harness.story import Outcome

Fields = dict[str, str | int | float]
"""The fields of a subject protocol command beside `op` and `id`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """A key that a scenario may write beside `do:`. Plans carry durations in seconds and sizes in bytes."""

    name: str
    kind: Literal["text", "count", "duration", "size"]
    about: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """`op` and `fields` make the protocol's command; `op` is None where the lab asks the subject nothing.

    `expects` says which outcome each word of a step's `expect:` stands for; other words are refused. `repeatable`: a
    step may call it again and again (`every:`).
    """

    name: str
    about: str
    op: str | None
    arguments: tuple[Argument, ...] = ()
    repeatable: bool = False
    expects: Mapping[str, Outcome] = field(default_factory=lambda: {"ok": Outcome.OK, "failed": Outcome.FAILED})
    fields: Callable[[PlannedOperation, RunPlan], Fields] = lambda _do, _plan: {}

    def command(self, do: PlannedOperation, plan: RunPlan) -> Fields:
        """The JSON object of the command. Raises ValueError for an operation without one."""
        if self.op is None:
            raise ValueError(f"{self.name} is no command of the subject protocol")
        return {"op": self.op, "id": do.alias, **self.fields(do, plan)}


OPERATIONS: Registry[Operation] = Registry("operations", "harness.operations")
"""Every operation by the name that scenarios use."""


def register(definition: Operation) -> Operation:
    """Register an operation under its name. Raises ValueError where the name is taken."""
    return OPERATIONS.add(definition.name, definition)
