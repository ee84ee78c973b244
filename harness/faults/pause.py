"""Brokers' processes stand still."""

from harness.faults.base import Proof, fault
from harness.faults.signals import SignalFault
from harness.levers import RequestsUnread


@fault("pause")
class Pause(SignalFault):
    """Brokers' processes stand still (SIGSTOP), as in a long garbage collection or on a frozen machine.

    Their kernels go on: dials succeed, bytes are acknowledged, and nothing is answered. Healed, they go on with all
    that came meanwhile, also with what its sender has given up: that is written after its error was returned.
    """

    kind = "pause"
    proof = Proof(RequestsUnread)
