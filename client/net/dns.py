"""DNS: what addresses a name has, as messages and as one question to one name server over UDP.

How often a server is asked, for how long, and for which families is policy of a language's library. Source: RFC 1035,
RFC 3596 (AAAA).
"""

import asyncio
import struct
from enum import IntEnum
from ipaddress import ip_address
from typing import NamedTuple, cast

Address = tuple[str, int]


class RecordKind(IntEnum):
    """What is asked for: addresses of one family."""

    A = 1
    AAAA = 28

    def holds(self, ip: str) -> bool:
        """Whether it is this kind of record that has the address."""
        return (ip_address(ip).version == 6) is (self is RecordKind.AAAA)


class ResponseCode(IntEnum):
    NO_ERROR = 0
    SERVER_FAILURE = 2
    NO_SUCH_NAME = 3


class Question(NamedTuple):
    """`number` finds the answer to it; `name` is without the dot at its end. `kind` is a RecordKind, or another number
    that nobody here answers."""

    number: int
    name: str
    kind: int


class Answer(NamedTuple):
    """`code` is a ResponseCode, or another number of RFC 1035."""

    number: int
    code: int
    addresses: tuple[str, ...] = ()


_HEADER = struct.Struct("!6H")
_IS_RESPONSE, _RECURSION_DESIRED = 0x8000, 0x0100
_FROM_AUTHORITY, _RECURSION_AVAILABLE = 0x0400, 0x0080
_INTERNET = 1
_POINTER = 0xC0
_NAME_OF_THE_QUESTION = 0xC00C
_LIMIT_BYTES = 1232


def encode_question(question: Question) -> bytes:
    """Raises ValueError for a name that cannot be asked for."""
    header = _HEADER.pack(question.number, _RECURSION_DESIRED, 1, 0, 0, 0)
    return header + _encode_name(question.name) + struct.pack("!2H", question.kind, _INTERNET)


def decode_question(message: bytes) -> Question:
    """Raises ValueError."""
    number, flags, questions, *_ = _header(message)
    if flags & _IS_RESPONSE or questions != 1:
        raise ValueError("no question")
    name, behind = _decode_name(message, _HEADER.size)
    kind, _ = _unpack("!2H", message, behind)
    return Question(number, name, kind)


def encode_answer(question: Question, answer: Answer) -> bytes:
    """Each address must be of the kind that is asked for."""
    flags = _IS_RESPONSE | _FROM_AUTHORITY | _RECURSION_DESIRED | _RECURSION_AVAILABLE | answer.code
    header = _HEADER.pack(question.number, flags, 1, len(answer.addresses), 0, 0)
    asked = _encode_name(question.name) + struct.pack("!2H", question.kind, _INTERNET)
    packed = [ip_address(one).packed for one in answer.addresses]
    records = [
        struct.pack("!3HIH", _NAME_OF_THE_QUESTION, question.kind, _INTERNET, 0, len(each)) + each for each in packed
    ]
    return header + asked + b"".join(records)


def decode_answer(message: bytes) -> Answer:
    """Raises ValueError."""
    number, flags, questions, records, *_ = _header(message)
    if not flags & _IS_RESPONSE:
        raise ValueError("no answer")
    at = _HEADER.size
    for _ in range(questions):
        _, at = _decode_name(message, at)
        at += 4
    addresses = []
    for _ in range(records):
        _, at = _decode_name(message, at)
        kind, _, _, length = _unpack("!2HIH", message, at)
        at += 10
        if kind in (RecordKind.A, RecordKind.AAAA):
            addresses.append(str(ip_address(message[at : at + length])))
        at += length
    return Answer(number, flags & 0xF, tuple(addresses))


def _header(message: bytes) -> tuple[int, ...]:
    return _unpack(_HEADER.format, message, 0)


def _unpack(form: str, message: bytes, at: int) -> tuple[int, ...]:
    try:
        return struct.unpack_from(form, message, at)
    except struct.error as wrong:
        raise ValueError(f"a DNS message of {len(message)} bytes is cut off") from wrong


def _encode_name(name: str) -> bytes:
    labels = [label.encode("ascii") for label in name.removesuffix(".").split(".")]
    if not all(0 < len(label) < 64 for label in labels) or sum(map(len, labels)) + len(labels) > 254:
        raise ValueError(f"{name} is no name of a host")
    return b"".join(bytes([len(label)]) + label for label in labels) + b"\0"


def _decode_name(message: bytes, at: int) -> tuple[str, int]:
    """The name, and where what comes behind it begins. Of one that points to another only the end is found."""
    labels: list[str] = []
    while True:
        (length,) = _unpack("!B", message, at)
        if length & _POINTER:
            return ".".join(labels), at + 2
        at += 1
        if length == 0:
            return ".".join(labels), at
        labels.append(message[at : at + length].decode("ascii", "replace"))
        at += length


async def ask(server: Address, question: Question, *, timeout_s: float) -> Answer:
    """Ask once, over UDP. Raises TimeoutError, OSError where there is no server, ValueError for what cannot be asked.

    Answers to other questions are passed over.
    """
    loop = asyncio.get_running_loop()
    asking = _Asking(question, loop.create_future())
    transport, _ = await loop.create_datagram_endpoint(lambda: asking, remote_addr=server)
    try:
        async with asyncio.timeout_at(loop.time() + timeout_s):
            return await asking.answer
    finally:
        transport.close()


class _Asking(asyncio.DatagramProtocol):
    def __init__(self, question: Question, answer: "asyncio.Future[Answer]") -> None:
        self._question = question
        self.answer = answer

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        cast(asyncio.DatagramTransport, transport).sendto(encode_question(self._question))

    def datagram_received(self, data: bytes, addr: Address) -> None:
        try:
            answer = decode_answer(data[:_LIMIT_BYTES])
        except ValueError:
            return
        if answer.number == self._question.number and not self.answer.done():
            self.answer.set_result(answer)

    def error_received(self, exc: Exception) -> None:
        if not self.answer.done():
            self.answer.set_exception(exc)
