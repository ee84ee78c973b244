"""Brokers tell an old state of the cluster."""

from harness.cluster_view import ClusterView
from harness.faults.base import FaultModel, Proof, Stage, fault
from harness.faults.brokers import Brokers, select_brokers
from harness.levers import ChangeMet, HoldState


@fault("stale_metadata")
class StaleMetadata(FaultModel):
    """Brokers do not learn of changes to the cluster: they report its state at the injection.

    It needs a second fault that changes something (`leader_move`, `scale_down`, a `kill` with an election): only
    requests after that count as proof. A broker that does not know that it was replaced still takes requests, and its
    appends are refused; where all brokers are stale, none knows, and the former leader still appends. Once healed,
    brokers report the current state.
    """

    proof = Proof(ChangeMet)

    brokers: Brokers = "all"

    def stages(self, view: ClusterView) -> tuple[Stage, ...]:
        return tuple(Stage(HoldState(broker=broker)) for broker in select_brokers(self.brokers, view))
