"""Which rules make a Packets lever, and which one proves that a port refused. Data in, expressions out.

Every rule counts what it matches: that count is a fault's proof.
"""

from dataclasses import dataclass

from harness.levers import Packets, Verdict
from harness.packets import expressions as x

_SYN_ALONE = {"among": x.Flag.SYN | x.Flag.ACK}


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule; `refuses` where each packet that it matches is a dial answered with a reset."""

    expressions: x.Expressions
    refuses: bool = False


def rules_of(lever: Packets, host: str, port: int) -> tuple[Rule, ...]:
    """The rules on the receiver's input hook that treat the link to the advertised address as the lever says."""
    link = x.tcp_to(host, port) if lever.flow == "to_broker" else x.tcp_from(host, port)
    syn = x.flags(x.Flag.SYN, **_SYN_ALONE)
    if lever.verdict is Verdict.DROP:
        matches: tuple[tuple[x.Expressions, bool], ...] = {
            "any": (((), False),),
            "syn": ((syn, False),),
            "data": tuple((alternative, False) for alternative in x.with_payload()),
        }[lever.only]
        treatment = x.drop()
    else:
        others = x.flags_other_than(x.Flag.SYN, **_SYN_ALONE)
        matches = {
            "any": ((syn, True), (others, False)),
            "syn": ((syn, True),),
            "data": tuple((alternative, False) for alternative in x.with_payload()),
        }[lever.only]
        treatment = x.reset()
    return tuple(Rule((*link, *match, *x.count(), *treatment), refuses) for match, refuses in matches)


def refusals_from(host: str, port: int) -> x.Expressions:
    """Counts dials to this address that were answered with a reset, and nothing else.

    The answer to a SYN for which nobody listens has RST and ACK set and the sequence number 0 (RFC 9293, 3.10.7.1); the
    reset of a connection has the connection's own numbers.
    """
    everything = x.Flag.FIN | x.Flag.SYN | x.Flag.RST | x.Flag.ACK
    return (
        *x.tcp_from(host, port),
        *x.flags(x.Flag.RST | x.Flag.ACK, among=everything),
        *x.sequence_number(0),
        *x.count(),
    )
