"""nftables expressions for TCP over IPv4: what a rule compares, in the order in which the kernel evaluates it.

Offsets: RFC 791 (IPv4) and RFC 9293 (TCP). pyroute2's `genex` packs one expression; a rule is a list of them, and
matches where none of its comparisons fails.
"""

import socket
import struct
from enum import IntEnum
from typing import Any

from pyroute2.netlink.nfnetlink.nftsocket import Cmp, Meta, Regs
from pyroute2.nftables.expressions import genex, verdict

Expression = dict[str, Any]
Expressions = tuple[Expression, ...]

_NETWORK, _TRANSPORT = 1, 2
_REJECT_WITH_TCP_RESET = 1
_CHECKSUM_OF_IP_AT, _CHECKSUM_OF_TCP_AT = 10, 16
_MOST_COUNTED = 2**31 - 1
_IN_TURN, _AT_RANDOM = 0, 1


class Flag(IntEnum):
    FIN = 0x01
    SYN = 0x02
    RST = 0x04
    PSH = 0x08
    ACK = 0x10


def _load(base: int, offset: int, length: int) -> Expression:
    return _expression("payload", {"dreg": Regs.NFT_REG_1, "base": base, "offset": offset, "len": length})


def _compare(value: bytes, how: Cmp) -> Expression:
    return _expression("cmp", {"sreg": Regs.NFT_REG_1, "op": how, "data": _value(value)})


def _masked(mask: bytes, flipped: bytes | None = None) -> Expression:
    return _expression(
        "bitwise",
        {
            "sreg": Regs.NFT_REG_1,
            "dreg": Regs.NFT_REG_1,
            "len": len(mask),
            "mask": _value(mask),
            "xor": _value(bytes(len(mask)) if flipped is None else flipped),
        },
    )


def _value(value: bytes) -> dict[str, Any]:
    return {"attrs": [("NFTA_DATA_VALUE", value)]}


def _expression(name: str, attributes: dict[str, Any]) -> Expression:
    expression: Expression = genex(name, attributes)
    return expression


def tcp_from(host: str, port: int) -> Expressions:
    """Segments that come from this address."""
    return (*_tcp(), *_address(12, host), *_port(0, port))


def tcp_to(host: str, port: int) -> Expressions:
    """Segments that go to this address."""
    return (*_tcp(), *_address(16, host), *_port(2, port))


def not_from(host: str) -> Expressions:
    return (_load(_NETWORK, 12, 4), _compare(socket.inet_aton(host), Cmp.NFT_CMP_NEQ))


def not_to(host: str) -> Expressions:
    return (_load(_NETWORK, 16, 4), _compare(socket.inet_aton(host), Cmp.NFT_CMP_NEQ))


def _tcp() -> Expressions:
    return (_load(_NETWORK, 9, 1), _compare(bytes([socket.IPPROTO_TCP]), Cmp.NFT_CMP_EQ))


def _address(offset: int, host: str) -> Expressions:
    return (_load(_NETWORK, offset, 4), _compare(socket.inet_aton(host), Cmp.NFT_CMP_EQ))


def _port(offset: int, port: int) -> Expressions:
    return (_load(_TRANSPORT, offset, 2), _compare(struct.pack("!H", port), Cmp.NFT_CMP_EQ))


def flags(wanted: int, *, among: int) -> Expressions:
    """Segments of whose flags `among` exactly those in `wanted` are set."""
    return (_load(_TRANSPORT, 13, 1), _masked(bytes([among])), _compare(bytes([wanted]), Cmp.NFT_CMP_EQ))


def flags_other_than(unwanted: int, *, among: int) -> Expressions:
    """Segments of whose flags `among` not exactly those in `unwanted` are set."""
    return (_load(_TRANSPORT, 13, 1), _masked(bytes([among])), _compare(bytes([unwanted]), Cmp.NFT_CMP_NEQ))


def sequence_number(number: int) -> Expressions:
    return (_load(_TRANSPORT, 4, 4), _compare(struct.pack("!I", number), Cmp.NFT_CMP_EQ))


def with_payload() -> tuple[Expressions, ...]:
    """Alternatives that together match exactly the segments with payload, one for each length of a TCP header.

    nftables cannot subtract a packet's header lengths from its total length, and PSH stands only on the last segment of
    a write. But a TCP header has only eleven lengths (5 to 15 words), and the kernel's own segments have no IP options:
    so each alternative asks for one header length and a total length above it.
    """
    ip_header_bytes = 20
    return tuple(
        (
            _load(_TRANSPORT, 12, 1),
            _masked(b"\xf0"),
            _compare(bytes([words << 4]), Cmp.NFT_CMP_EQ),
            _load(_NETWORK, 2, 2),
            _compare(struct.pack("!H", ip_header_bytes + 4 * words), Cmp.NFT_CMP_GT),
        )
        for words in range(5, 16)
    )


def marked(wanted: int, *, among: int) -> Expressions:
    """Packets of whose mark's bits `among` exactly those in `wanted` are set."""
    return (_load_mark(), _masked(struct.pack("=I", among)), _compare(struct.pack("=I", wanted), Cmp.NFT_CMP_EQ))


def marked_below(number: int, *, among: int) -> Expressions:
    """Packets of whose mark the bits `among` are a number less than this."""
    in_order = (_load_mark(), _masked(struct.pack("=I", among)), _in_network_order())
    return (*in_order, _compare(struct.pack("!I", number), Cmp.NFT_CMP_LT))


def add_mark(bit: int) -> Expressions:
    """Set one bit of the packet's mark, for later rules, and pass it on."""
    return (_load_mark(), _masked(struct.pack("=I", ~bit & 0xFFFFFFFF), struct.pack("=I", bit)), _store_mark())


def mark(number: int) -> Expressions:
    """Give the packet this mark in place of any other, and pass it on."""
    return (
        _expression("immediate", {"dreg": Regs.NFT_REG_1, "data": _value(struct.pack("=I", number))}),
        _store_mark(),
    )


def _load_mark() -> Expression:
    return _expression("meta", {"dreg": Regs.NFT_REG_1, "key": Meta.NFT_META_MARK})


def _store_mark() -> Expression:
    return _expression("meta", {"sreg": Regs.NFT_REG_1, "key": Meta.NFT_META_MARK})


def _in_network_order() -> Expression:
    """What was loaded is in the machine's byte order, and a comparison goes byte by byte."""
    return _expression(
        "byteorder",
        {"sreg": Regs.NFT_REG_1, "dreg": Regs.NFT_REG_1, "op": 1, "len": 4, "size": 4},
    )


def limit_to_first(packets: int) -> Expressions:
    """Match only the first so many packets that reach this comparison."""
    return _numbered_below(packets, _IN_TURN)


def by_chance(chance: float) -> Expressions:
    """Match each packet that reaches this comparison with this chance."""
    return _numbered_below(round(chance * _MOST_COUNTED), _AT_RANDOM)


def _numbered_below(number: int, how: int) -> Expressions:
    # `genex` would name its attributes after the expression; the kernel has a short name for them.
    numbering = {"NFTA_NG_DREG": Regs.NFT_REG_1, "NFTA_NG_MODULUS": _MOST_COUNTED, "NFTA_NG_TYPE": how}
    numbered = {"attrs": [("NFTA_EXPR_NAME", "numgen"), ("NFTA_EXPR_DATA", {"attrs": list(numbering.items())})]}
    return (numbered, _in_network_order(), _compare(struct.pack("!I", number), Cmp.NFT_CMP_LT))


def count() -> Expressions:
    return (_expression("counter", {"bytes": 0, "packets": 0}),)


def drop() -> Expressions:
    return tuple(verdict(code=0))


def refuse() -> Expressions:
    """Answer with a TCP reset, as a host without a listener does, and drop."""
    return (_expression("reject", {"type": _REJECT_WITH_TCP_RESET, "icmp_code": 0}),)


def reset() -> Expressions:
    """Reset the packet's connection at both ends: its receiver gets it as a reset, its sender is answered with one.

    The receiver of a rejected packet learns nothing. So the packet is turned into a reset, a copy of it is sent on to
    the receiver, and the packet is turned back before it is rejected: a reset is never answered with a reset.
    """
    return (*_flagged(Flag.RST | Flag.ACK), *copy(), *_flagged(Flag.PSH | Flag.ACK), *refuse())


def redirect(host: str) -> Expressions:
    """Send the packet to this address in place of its own. What answers it does so from there."""
    written = _expression(
        "payload",
        {
            "sreg": Regs.NFT_REG_1,
            "base": _NETWORK,
            "offset": 16,
            "len": 4,
            "csum_type": 1,
            "csum_offset": _CHECKSUM_OF_IP_AT,
            "csum_flags": ("NFT_PAYLOAD_L4CSUM_PSEUDOHDR",),
        },
    )
    address = _expression("immediate", {"dreg": Regs.NFT_REG_1, "data": _value(socket.inet_aton(host))})
    return (address, written)


def copy() -> Expressions:
    """Send a copy of the packet, as it is now, to where the packet goes: it passes the hooks by itself."""
    return (_load(_NETWORK, 16, 4), _expression("dup", {"sreg_addr": Regs.NFT_REG_1}))


def _flagged(wanted: int) -> Expressions:
    """Give the segment these flags. Two bytes, the header's length among them: a checksum is made of pairs."""
    written = _expression(
        "payload",
        {
            "sreg": Regs.NFT_REG_1,
            "base": _TRANSPORT,
            "offset": 12,
            "len": 2,
            "csum_type": 1,
            "csum_offset": _CHECKSUM_OF_TCP_AT,
            "csum_flags": (),
        },
    )
    return (_load(_TRANSPORT, 12, 2), _masked(b"\xf0\x00", bytes([0, wanted])), written)
