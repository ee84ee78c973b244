"""The rules of a FilterPackets lever, and the rule that counts refused dials. Data in, expressions out.

Every rule counts what it matches: that count is a fault's proof.
"""

from dataclasses import dataclass

from harness.environments.linux.addresses import FULL_QUEUE, PROBES
from harness.environments.linux.packets import expressions as x
from harness.environments.linux.packets.table import SEND, TREAT
from harness.levers import FilterPackets, PacketAction

_SYN_ALONE = {"among": x.Flag.SYN | x.Flag.ACK}

_WITH_PAYLOAD = 1 << 24
"""The mark of packets with payload."""

HELD_COPY = 1 << 25
"""The mark of copies of packets that a rule holds, beside the number of that rule: for its `PacketHold` alone."""
_HELD_BY = (1 << 16) - 1
"""The bits that have the number of the last rule that held a packet."""


_TREATMENTS = {
    PacketAction.DROP: x.drop(),
    PacketAction.REFUSE: x.refuse(),
    PacketAction.RESET: x.reset(),
    PacketAction.OVERFLOW: x.redirect(FULL_QUEUE[0]),
}
"""What becomes of a packet that a rule matches. A SYN that has been redirected is met by no later rule of its link."""


@dataclass(frozen=True, slots=True)
class NftRule:
    """One rule; `refuses` where each packet that it matches is a dial answered with a reset."""

    expressions: x.Expressions
    refuses: bool = False


def chain_for(lever: FilterPackets) -> str:
    """The chain that the lever's rules belong to."""
    return TREAT if lever.hook == "receiver" else SEND


def rules_for(lever: FilterPackets, host: str, port: int, *, holds: int = 0) -> tuple[NftRule, ...]:
    """The rules on the lever's hook that do what the lever says to the link with the advertised address.

    `holds`: the highest number of a rule that holds packets and was there before; what a later one has sent on was here
    already. Of levers that delay or duplicate, see `rules_that_hold` and `rules_that_duplicate`.
    """
    link = x.tcp_to(host, port) if lever.flow == "to_broker" else x.tcp_from(host, port)
    if lever.chance < 1:
        link = (*_client_link(lever, host, port), *x.marked_below(holds + 1, among=_HELD_BY))
    if lever.hook == "sender":
        link = (*x.marked(0, among=HELD_COPY | _HELD_BY), *link)  # what was held has left its sender before
    treatment = _TREATMENTS[lever.verdict]
    syn = x.flags(x.Flag.SYN, **_SYN_ALONE)
    match lever.only:
        case "data":
            # A packet that the rule has turned into a reset passes this hook once more.
            no_reset = x.flags(0, among=x.Flag.RST)
            return (
                *_marking(link),
                _treating(lever, (*link, *x.marked(_WITH_PAYLOAD, among=_WITH_PAYLOAD), *no_reset), treatment),
            )
        case "fin":
            ends = x.flags(x.Flag.FIN, among=x.Flag.FIN | x.Flag.RST)
            return (_treating(lever, (*link, *ends), treatment),)
        case "any" if lever.verdict is PacketAction.REFUSE:
            others = x.flags_other_than(x.Flag.SYN, **_SYN_ALONE)
            refusing = _treating(lever, (*link, *syn), treatment, refuses=True)
            return (refusing, _treating(lever, (*link, *others), treatment))
        case "any":
            return (_treating(lever, link, treatment),)
        case "syn":
            return (_treating(lever, (*link, *syn), treatment, refuses=lever.verdict is PacketAction.REFUSE),)


def rules_that_hold(lever: FilterPackets, host: str, port: int, number: int) -> tuple[NftRule, ...]:
    """The rule that takes packets out of the way, and marks a copy of each for a PacketHold of this number.

    What was held is sent on with the number as its mark, and passes this rule and those of lower numbers.
    """
    taking = (*x.count(), *x.mark(HELD_COPY | number), *x.copy(), *x.drop())
    return (NftRule((*_first_time(lever, host, port, number), *taking)),)


def rules_that_duplicate(lever: FilterPackets, host: str, port: int, number: int) -> tuple[NftRule, ...]:
    """The rule that sends a copy of packets, and lets them pass: neither meets this rule again, or one before it."""
    return (NftRule((*_first_time(lever, host, port, number), *x.count(), *x.mark(number), *x.copy())),)


def _first_time(lever: FilterPackets, host: str, port: int, number: int) -> x.Expressions:
    """The client's packets that a lever takes, and that were not sent on by a rule of this number or a higher one."""
    syn = x.flags(x.Flag.SYN, **_SYN_ALONE) if lever.only == "syn" else ()
    chance = () if lever.chance == 1 else x.by_chance(lever.chance)
    return (*_client_link(lever, host, port), *syn, *x.marked_below(number, among=_HELD_BY), *chance)


def _client_link(lever: FilterPackets, host: str, port: int) -> x.Expressions:
    """The packets of the lever's link, but for the lab's own probes."""
    if lever.flow == "to_broker":
        return (*x.tcp_to(host, port), *x.not_from(PROBES))
    return (*x.tcp_from(host, port), *x.not_to(PROBES))


def copies_dropped() -> x.Expressions:
    """Drops the copies: packet sockets have seen them, and nobody else should."""
    return (*x.marked(HELD_COPY, among=HELD_COPY), *x.drop())


def _marking(link: x.Expressions) -> tuple[NftRule, ...]:
    """Rules that mark segments with payload: that takes several comparisons, and only one rule may count."""
    return tuple(NftRule((*link, *alternative, *x.add_mark(_WITH_PAYLOAD))) for alternative in x.with_payload())


def _treating(
    lever: FilterPackets, match: x.Expressions, treatment: x.Expressions, *, refuses: bool = False
) -> NftRule:
    limit = () if lever.at_most is None else x.limit_to_first(lever.at_most)
    limit = limit if lever.chance == 1 else x.by_chance(lever.chance)
    return NftRule((*match, *limit, *x.count(), *treatment), refuses)


def count_refusals(host: str, port: int) -> x.Expressions:
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


def count_from_client(lever: FilterPackets, host: str, port: int) -> x.Expressions:
    """Counts what a drop on the sender's hook matches, but for the lab's own probes."""
    syn = x.flags(x.Flag.SYN, **_SYN_ALONE) if lever.only == "syn" else ()
    return (*x.marked(0, among=HELD_COPY | _HELD_BY), *_client_link(lever, host, port), *syn, *x.count())
