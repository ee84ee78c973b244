"""Faults that end a broker's process or make it stand still: what they share."""

from typing import ClassVar, Literal

from harness.cluster_view import ClusterView
from harness.faults.base import FaultModel, Stage
from harness.faults.brokers import Brokers, select_brokers
from harness.levers import Signal


class SignalFault(FaultModel):
    """A fault of a broker's process. Not registered itself: subclasses are."""

    kind: ClassVar[Literal["kill", "pause", "restart"]]

    brokers: Brokers = "all"

    def stages(self, view: ClusterView) -> tuple[Stage, ...]:
        return tuple(Stage(Signal(broker=broker, kind=self.kind)) for broker in select_brokers(self.brokers, view))
