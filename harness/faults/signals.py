"""Faults that end a broker's process or make it stand still: what they share."""

from typing import ClassVar, Literal

from pydantic import Field

from harness.cluster_view import ClusterView
from harness.faults.base import FaultModel, Stage
from harness.faults.brokers import Brokers, select_brokers
from harness.levers import SESSION_S, Signal
from harness.quantities import Seconds


class SignalFault(FaultModel):
    """A fault of a broker's process. Not registered itself: subclasses are."""

    kind: ClassVar[Literal["kill", "pause", "restart"]]

    brokers: Brokers = "all"

    @property
    def election_s(self) -> float:
        """How long after it partitions with other replicas get another leader."""
        return SESSION_S

    def stages(self, view: ClusterView) -> tuple[Stage, ...]:
        return tuple(
            Stage(Signal(broker=broker, kind=self.kind, election_s=self.election_s))
            for broker in select_brokers(self.brokers, view)
        )


class LosingFault(SignalFault):
    """One after which others lead what the broker led. Not registered itself: subclasses are."""

    election: Seconds = Field(
        default=SESSION_S,
        ge=0,
        description="How long after it other replicas lead; at `0s` before, as in a controlled shutdown",
    )

    @property
    def election_s(self) -> float:
        return self.election
