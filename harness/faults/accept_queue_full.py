"""Nobody accepts connections any more, and the queue of those that wait is full."""

from harness.cluster_view import ClusterView
from harness.faults.base import FaultModel, Proof, Stage, fault
from harness.faults.brokers import Brokers, select_brokers
from harness.levers import DialsOverflowed, FilterPackets, PacketAction


@fault("accept_queue_full")
class AcceptQueueFull(FaultModel):
    """The brokers accept nobody any more, and their listen queue is full: dials hang, what is connected lives on.

    As where a broker's acceptor is stuck, or has run out of file descriptors. The kernel completes handshakes on its
    own until backlog + 1 connections wait (Kafka's socket.listen.backlog.size, 50 by default). Then it drops each SYN
    without an answer, and the dialler's kernel sends it again after 1, 2, 3 s and so on. With tcp_abort_on_overflow,
    which is off by default, it would answer with a reset: that is `refuse` with `by: firewall`. In cells, SYNs meet a
    real listener whose queue is full. A handshake that was answered before is completed. Healed, the next SYN is
    accepted.
    """

    proof = Proof(DialsOverflowed)

    brokers: Brokers = "all"

    def stages(self, view: ClusterView) -> tuple[Stage, ...]:
        return tuple(
            Stage(FilterPackets(broker=broker, flow="to_broker", only="syn", verdict=PacketAction.OVERFLOW))
            for broker in select_brokers(self.brokers, view)
        )
