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
    """A key that a scenario may write beside `do:`. Plans carry durations in seconds and sizes in bytes.

    `key` is the command's field that takes the value as it is; None where the operation's `fields` do more with it.
    """

    name: str
    kind: Literal["text", "count", "duration", "size"]
    about: str
    key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultField:
    """A field of a successful operation's result, under its key in the protocol's `ok`; it may be absent there."""

    name: str
    kind: Literal["text", "integer", "number"]
    about: str


HANDLE = Argument(
    name="handle", kind="text", key="handle", about="which of the client's handles; its only one where absent"
)
"""For operations on one of several producers, writers or connections that a client holds."""

ADDRESS = Argument(
    name="address", kind="text", key="address", about="whom to dial, such as `kafka:9092`; the first bootstrap address"
)
DEADLINE = Argument(name="deadline", kind="duration", key="deadline_s", about="the caller's deadline (a ctx)")
TOPIC = Argument(name="topic", kind="text", about="which one, known or not; the cluster's first topic where absent")
PARTITION = Argument(name="partition", kind="count", key="partition", about="which one, there or not; 0 where absent")

DIAL_ARGUMENTS = (ADDRESS, DEADLINE, HANDLE)
PARTITION_ARGUMENTS = (TOPIC, PARTITION, *DIAL_ARGUMENTS)
"""What operations of a Dialer take: whom they ask, and which partition they mean."""

CONNECTED_TO = ResultField(name="address", kind="text", about="what the connection leads to")
LEADER = (
    ResultField(name="leader", kind="integer", about="the leader's id; 0 where the answer names none"),
    ResultField(name="address", kind="text", about="where the leader is said to listen; `:0` where there is none"),
)
"""What they return."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """`op`, `arguments` and `fields` make the protocol's command; `op` is None where the lab asks the subject nothing.

    `expects` says which outcome each word of a step's `expect:` stands for; other words are refused. `repeatable`: a
    step may call it again and again (`every:`). `result` lists what the subject may return.

    What else holds for it: `delivers`, its success means that a message was acknowledged and may be in the log.
    `dials`, the client may open connections meanwhile. `constructs`, it makes the client that operations with
    `needs_client` work with. `closes`, the subject exits after its success. `names_anything`, its topic and partition
    need not be in the cluster: what the client makes of unknown ones is what it is for.
    """

    name: str
    about: str
    op: str | None
    arguments: tuple[Argument, ...] = ()
    repeatable: bool = False
    expects: Mapping[str, Outcome] = field(default_factory=lambda: {"ok": Outcome.OK, "failed": Outcome.FAILED})
    fields: Callable[[PlannedOperation, RunPlan], Fields] = lambda _do, _plan: {}
    result: tuple[ResultField, ...] = ()
    delivers: bool = False
    dials: bool = False
    constructs: bool = False
    needs_client: bool = False
    closes: bool = False
    names_anything: bool = False

    def command(self, do: PlannedOperation, plan: RunPlan) -> Fields:
        """The JSON object of the command. Raises ValueError for an operation without one."""
        if self.op is None:
            raise ValueError(f"{self.name} is no command of the subject protocol")
        given = {
            argument.key: do.arguments[argument.name]
            for argument in self.arguments
            if argument.key is not None and argument.name in do.arguments
        }
        return {"op": self.op, "id": do.alias, **given, **self.fields(do, plan)}


OPERATIONS: Registry[Operation] = Registry("operations", "harness.operations")
"""Every operation by the name that scenarios use."""


def register(definition: Operation) -> Operation:
    """Register an operation under its name. Raises ValueError where the name is taken."""
    return OPERATIONS.add(definition.name, definition)


def delivers(name: str) -> bool:
    """Whether the operation of this name delivers a message; False for one that is not registered here."""
    try:
        return OPERATIONS[name].delivers
    except KeyError:
        return False


def names_where(holds: Callable[[Operation], bool]) -> tuple[str, ...]:
    """The names of all operations for which this holds, in the order in which a client's life has them."""
    order = sorted(OPERATIONS.values(), key=lambda one: (one.op is not None, not one.constructs, one.closes, one.name))
    return tuple(operation.name for operation in order if holds(operation))


def named_topic(do: PlannedOperation, plan: RunPlan) -> Fields:
    """The topic that the step names, else the cluster's first. Raises ValueError where there is neither."""
    if "topic" in do.arguments:
        return {"topic": do.arguments["topic"]}
    if not plan.cluster.topics:
        raise ValueError(f"{do.alias}: the step names no topic and the cluster has none")
    return {"topic": plan.cluster.topics[0].name}
