"""What a fault is: a pure function from its parameters to levers, and the proof that it had an effect."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeVar

from pydantic import BaseModel, ConfigDict
from pydantic_core import PydanticCustomError

from client.registry import Registry
from harness.cluster_view import ClusterView
from harness.levers import Evidence, Lever


@dataclass(frozen=True, slots=True)
class Stage:
    """A lever and when it is pulled, in seconds after the fault's beginning. Healing goes in reverse order.

    `ends`: the lever is one of those that were pulled before the fault, and is undone then; healing pulls it again.
    """

    lever: Lever
    after_s: float = 0.0
    ends: bool = False


@dataclass(frozen=True, slots=True)
class Proof:
    """What must be seen for the fault to count as real; otherwise the run is inconclusive.

    `evidence` is the kind of its levers' evidence that counts. `any_lever`: one lever's effect is enough; `each_lever`:
    every lever must show it.
    """

    evidence: type[Evidence]
    scope: Literal["any_lever", "each_lever"] = "any_lever"


class FaultModel(BaseModel):
    """Parameters of a fault, as a scenario writes them. Subclasses are registered by `@fault(name)`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: ClassVar[str]
    proof: ClassVar[Proof]
    proofs: ClassVar[Mapping[tuple[str, object], Proof]] = {}
    """In place of `proof`, by a parameter and the value of it that takes other levers."""
    mutes: ClassVar[bool] = False
    """Whether its brokers answer nothing while it is in force, so that limits run out on any machine. Not so where
    answers are late, or some come after all."""

    needs: ClassVar[Literal["tls", "sasl", "names"] | None] = None
    """What of the cluster it works on: a cluster without it is refused."""

    def beforehand(self, view: ClusterView) -> tuple[Lever, ...]:
        """Levers that are pulled before the client starts, for what only this fault brings; `stages` may end some of
        them. Where there are any, `stages` takes the cluster as it was before them. Raises SelectorError."""
        return ()

    def stages(self, view: ClusterView) -> tuple[Stage, ...]:
        """The levers, in the order of pulling, for the cluster as it is now. Raises SelectorError."""
        raise NotImplementedError

    def proven_by(self) -> Proof:
        """What proves the fault with these parameters."""
        found = (proof for (parameter, value), proof in self.proofs.items() if getattr(self, parameter) == value)
        return next(found, self.proof)


def unfit(code: str, text: str, hint: str, *, parameter: str = "") -> PydanticCustomError:
    """What a rule over several parameters finds, to be raised by a model's validator: `parameter` is the wrong one."""
    return PydanticCustomError(code, "{text}", {"text": text, "hint": hint, "parameter": parameter})


FAULTS: Registry[type[FaultModel]] = Registry("faults", "harness.faults")
"""Every fault by the name that scenarios use."""

F = TypeVar("F", bound=type[FaultModel])


def fault(name: str) -> Callable[[F], F]:
    """Register a fault under the name that scenarios use. The class docstring's first line is its summary."""

    def register(model: F) -> F:
        model.name = name
        FAULTS.add(name, model)
        return model

    return register
