"""Brokers' processes stand still."""

from harness.faults.base import Proof, fault
from harness.faults.signals import LosingFault
from harness.levers import RequestsUnread


@fault("pause")
class Pause(LosingFault):
    """Brokers' processes are suspended (SIGSTOP), as in a long garbage collection or on a frozen machine.

    Their kernels keep working: dials succeed and bytes are acknowledged, but nothing is answered. Once healed, they
    handle everything that arrived meanwhile, including requests whose sender has given up: those messages are written
    after their error was returned.

    Other replicas of their partitions lead once their session has ended (`election`): a resumed broker no longer leads,
    and refuses what it finds unread. Acknowledgements of all replicas wait until then, which is an effect as well.
    """

    kind = "pause"
    proof = Proof(RequestsUnread)
    mutes = True
