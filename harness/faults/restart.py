"""Brokers' processes are killed and started again."""

from harness.faults.base import Proof, fault
from harness.faults.signals import SignalFault
from harness.levers import ConnectionsCut


@fault("restart")
class Restart(SignalFault):
    """Brokers' processes are killed and started again at once, each on its old log.

    The step ends when they listen again, so healing has nothing to undo. Open connections end, and dials in between are
    refused, for 50 ms at least. Where partitions have other replicas, others lead what they led.
    """

    kind = "restart"
    proof = Proof(ConnectionsCut)
