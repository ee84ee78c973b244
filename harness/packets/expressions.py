"""nftables expressions for TCP over IPv4: what a rule compares, in the order in which the kernel evaluates it.

Offsets: RFC 791 (IPv4) and RFC 9293 (TCP). pyroute2's `genex` packs one expression; a rule is a list of them, and
matches where none of its comparisons fails.
"""

import socket
import struct
from enum import IntEnum
from typing import Any

from pyroute2.netlink.nfnetlink.nftsocket import Cmp, Regs
from pyroute2.nftables.expressions import genex, verdict

Expression = dict[str, Any]
Expressions = tuple[Expression, ...]

_NETWORK, _TRANSPORT = 1, 2
_REJECT_WITH_TCP_RESET = 1


class Flag(IntEnum):
    FIN = 0x01
    SYN = 0x02
    RST = 0x04
    ACK = 0x10


def _load(base: int, offset: int, length: int) -> Expression:
    return _made("payload", {"dreg": Regs.NFT_REG_1, "base": base, "offset": offset, "len": length})


def _compare(value: bytes, how: Cmp) -> Expression:
    return _made("cmp", {"sreg": Regs.NFT_REG_1, "op": how, "data": _value(value)})


def _masked(mask: bytes) -> Expression:
    return _made(
        "bitwise",
        {
            "sreg": Regs.NFT_REG_1,
            "dreg": Regs.NFT_REG_1,
            "len": len(mask),
            "mask": _value(mask),
            "xor": _value(bytes(len(mask))),
        },
    )


def _value(value: bytes) -> dict[str, Any]:
    return {"attrs": [("NFTA_DATA_VALUE", value)]}


def _made(name: str, attributes: dict[str, Any]) -> Expression:
    made: Expression = genex(name, attributes)
    return made


def tcp_from(host: str, port: int) -> Expressions:
    """Segments that come from this address."""
    return (*_tcp(), *_address(12, host), *_port(0, port))


def tcp_to(host: str, port: int) -> Expressions:
    """Segments that go to this address."""
    return (*_tcp(), *_address(16, host), *_port(2, port))


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


def count() -> Expressions:
    return (_made("counter", {"bytes": 0, "packets": 0}),)


def drop() -> Expressions:
    return tuple(verdict(code=0))


def reset() -> Expressions:
    """Answer with a TCP reset, as a host without a listener does, and drop."""
    return (_made("reject", {"type": _REJECT_WITH_TCP_RESET, "icmp_code": 0}),)
