"""Brokers' processes are killed."""

from harness.faults.base import Proof, fault
from harness.faults.signals import LosingFault
from harness.levers import ConnectionsCut


@fault("kill")
class Kill(LosingFault):
    """Brokers' processes are killed (SIGKILL): connections end, dials are refused.

    What a broker has acknowledged stays in its log; what it had received but not read is lost. Healing starts it again
    on the same log.

    Other replicas of its partitions lead once its session with the controller has ended (`election`), and keep leading
    when it is back; until then acknowledgements of all replicas wait for it. Partitions with one replica cannot move:
    if the broker has no others, metadata keeps naming it. Acknowledgements that wait, and what metadata tells a client
    once others lead, are effects as well, even if it never uses the dead broker.
    """

    kind = "kill"
    proof = Proof(ConnectionsCut)
