"""Brokers' processes are killed."""

from harness.faults.base import Proof, fault
from harness.faults.signals import SignalFault
from harness.levers import ConnectionsCut


@fault("kill")
class Kill(SignalFault):
    """Brokers' processes are killed (SIGKILL): connections end, dials are refused.

    What a broker has acknowledged stays in its log; what it had accepted and not read is lost. Healed, it is started
    again on the same log. No other broker takes over what it leads: metadata goes on naming it.
    """

    kind = "kill"
    proof = Proof(ConnectionsCut)
