"""Brokers' processes stand still."""

from harness.faults.base import Proof, fault
from harness.faults.signals import LosingFault
from harness.levers import RequestsUnread


@fault("pause")
class Pause(LosingFault):
    """Brokers' processes stand still (SIGSTOP), as in a long garbage collection or on a frozen machine.

    Their kernels go on: dials succeed, bytes are acknowledged, and nothing is answered. Healed, they go on with all
    that came meanwhile, also with what its sender has given up: that is written after its error was returned.

    Where its partitions have other replicas, these lead once its session has ended (`election`): resumed, it is no
    leader any more, and what it finds unread is refused.
    """

    kind = "pause"
    proof = Proof(RequestsUnread)
    mutes = True
