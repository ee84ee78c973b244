"""What a lever is, what evidence is, and the registry of levers."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache
from typing import ClassVar, Literal, Self, TypeVar

from client.registry import Registry

Flow = Literal["to_broker", "to_client"]
FLOWS: tuple[Flow, Flow] = ("to_broker", "to_client")


@dataclass(frozen=True, slots=True)
class Evidence(ABC):
    """What a pulled lever is seen to have done. Without arguments: nothing.

    Every field has a default. Fields are counts that add up unless a kind of evidence says otherwise.
    """

    name: ClassVar[str]
    """What was counted, as records call it: `packets_dropped`."""
    meaning: ClassVar[str]
    """Completes `Proof: ...` in docs/FAULTS.md."""

    @property
    def amount(self) -> float:
        """How much the lever did, in the unit of what is counted."""
        return float(sum([getattr(self, name) for name in _field_names(type(self))]))

    @classmethod
    def of(cls, evidence: "Evidence") -> Self:
        """What a lever's evidence amounts to as evidence of this kind: nothing, unless it is of this kind."""
        return evidence if isinstance(evidence, cls) else cls()

    def __add__(self, other: Self) -> Self:
        """What two levers of one fault did together."""
        names = _field_names(type(self))
        return type(self)(**{name: getattr(self, name) + getattr(other, name) for name in names})

    @abstractmethod
    def sentence(self) -> str:
        """Says the amount; its subject is the fault: `dropped 14 packets`."""


@cache
def _field_names(kind: type[Evidence]) -> tuple[str, ...]:
    """Looked up once a kind: every run adds its evidence up."""
    return tuple(field.name for field in fields(kind))


def quantity(amount: float, noun: str) -> str:
    """`1 packet`, `14 packets`."""
    return f"{amount:.0f} {noun}" if amount == 1 else f"{amount:.0f} {noun}s"


@dataclass(frozen=True, slots=True)
class Lever(ABC):
    """One thing that an environment can do to a run: parameters only. Subclasses are registered by `@lever(name)`."""

    name: ClassVar[str]

    @property
    @abstractmethod
    def where(self) -> str:
        """What it works on, as a sentence about its effect names it: `broker 1 (to_broker)`."""

    @property
    def enough(self) -> float:
        """The least amount of its evidence that counts as an effect."""
        return 1.0

    @property
    def lasts(self) -> bool:
        """Whether operations that begin later meet what it did to a connection: one that was cut stays cut."""
        return False

    @property
    def acts_while_undone(self) -> bool:
        """Whether undoing it waits for an effect that has begun: its evidence is read afterwards, too."""
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerLever(Lever):
    """A lever that works on one broker, known by its id. Not registered itself: subclasses are."""

    broker: int

    @property
    def where(self) -> str:
        return f"broker {self.broker}"


LEVERS: Registry[type[Lever]] = Registry("levers", "harness.levers")
"""Every lever by its name."""

L = TypeVar("L", bound=type[Lever])


def lever(name: str) -> Callable[[L], L]:
    """Register a lever. Each environment has a table of those that it can pull (`LeverTable`)."""

    def register(kind: L) -> L:
        LEVERS.add(name, kind)
        kind.name = name
        return kind

    return register
