"""Which requests a fault means: the fields that every fault of a broker's answers has."""

from typing import Annotated, Any

from pydantic import Field, StringConstraints

from harness.cluster_view import ClusterView
from harness.faults.base import FaultModel, Stage
from harness.faults.brokers import Brokers, select_brokers
from harness.levers import Intercept, InterceptResponse

Api = Annotated[
    str,
    StringConstraints(pattern=r"^[a-z]+(_[a-z]+)*$"),
    Field(description="Which requests: `produce`, `metadata`, `api_versions` and so on, or `all`"),
]
"""A field that names an API as the protocol guide does, in lower case."""


class RequestFault(FaultModel):
    """A fault that brokers make by answering requests in another way. Not registered itself: subclasses are."""

    brokers: Brokers = "all"
    api: Api = "all"
    nth: int | None = Field(
        default=None, ge=1, description="Only the nth such request that each broker gets; each one where absent"
    )

    chance: float = Field(
        default=1.0, gt=0, le=1, description="With what probability each such request is taken, from the run's seed"
    )

    client_id: str | None = Field(
        default=None, description="Only requests of a client that calls itself so; each one where absent"
    )
    transactional_id: str | None = Field(
        default=None, description="Only `produce` requests with this transactional id; each one where absent"
    )

    def answer(self) -> InterceptResponse:
        """What takes the place of the answer."""
        raise NotImplementedError

    def stages(self, view: ClusterView) -> tuple[Stage, ...]:
        which: dict[str, Any] = {"answer": self.answer(), "api": self.api, "nth": self.nth}
        if self.chance < 1:
            which |= {"chance": self.chance, "seed": view.seed}
        which |= {"client_id": self.client_id, "transactional_id": self.transactional_id}
        return tuple(Stage(Intercept(broker=broker, **which)) for broker in select_brokers(self.brokers, view))
