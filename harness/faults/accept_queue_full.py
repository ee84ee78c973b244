"""Nobody accepts connections any more, and the queue of those that wait is full."""

from harness.cluster_view import ClusterView
from harness.faults.base import FaultModel, Proof, Stage, fault
from harness.faults.brokers import Brokers, select_brokers
from harness.levers import DialsOverflowed, FilterPackets, PacketAction


@fault("accept_queue_full")
class AcceptQueueFull(FaultModel):
    """Brokers accept no more connections and their listen queue is full: dials hang, open connections work.

    As when a broker's acceptor is stuck or out of file descriptors. The kernel completes handshakes by itself until
    backlog + 1 connections wait (Kafka's socket.listen.backlog.size, 50 by default). It then drops every SYN, and the
    client's kernel sends it again after 1, 2, 3 s and so on. With tcp_abort_on_overflow, off by default, it would
    answer with a reset: that is `refuse` with `by: firewall`. In cells, SYNs meet a real listener whose queue is full.
    Handshakes answered before the fault complete. Once healed, the next SYN is accepted.
    """

    proof = Proof(DialsOverflowed)

    brokers: Brokers = "all"

    def stages(self, view: ClusterView) -> tuple[Stage, ...]:
        return tuple(
            Stage(FilterPackets(broker=broker, flow="to_broker", only="syn", verdict=PacketAction.OVERFLOW))
            for broker in select_brokers(self.brokers, view)
        )
