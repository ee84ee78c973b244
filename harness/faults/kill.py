"""Brokers' processes are killed."""

from harness.faults.base import Proof, fault
from harness.faults.signals import LosingFault
from harness.levers import ConnectionsCut


@fault("kill")
class Kill(LosingFault):
    """Brokers' processes are killed (SIGKILL): connections end, dials are refused.

    What a broker has acknowledged stays in its log; what it had accepted and not read is lost. Healed, it is started
    again on the same log.

    Where its partitions have other replicas, these lead once its session with the controller has ended (`election`),
    and go on when it is back; until then acknowledgements of all replicas wait for it. Partitions with one replica have
    nobody to go to: where the broker has no others, metadata goes on naming it.
    """

    kind = "kill"
    proof = Proof(ConnectionsCut)
