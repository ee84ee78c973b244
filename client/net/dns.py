"""DNS: what addresses a name has, as messages and as one question to one name server over UDP.

How often a server is asked, for how long, and for which families is policy of a language's library. Source: RFC 1035,
RFC 3596 (AAAA).
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from functools import lru_cache
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


_LIMIT_BYTES = 1232


_same_for_every_number = lru_cache(maxsize=512)
"""A run asks the same few questions again and again, and only their numbers differ: the first two bytes."""


def encode_question(question: Question) -> bytes:
    """Raises ValueError for a name that cannot be asked for."""
    return _numbered(question.number, _encode_question(question._replace(number=0)))


def decode_question(message: bytes) -> Question:
    """Raises ValueError."""
    return _decode_question(_numbered(0, message))._replace(number=_number(message))


def encode_answer(question: Question, answer: Answer) -> bytes:
    """Each address must be of the kind that is asked for. Raises ValueError for a name that cannot be asked for."""
    return _numbered(question.number, _encode_answer(question._replace(number=0), answer._replace(number=0)))


def decode_answer(message: bytes) -> Answer:
    """Raises ValueError."""
    return _decode_answer(_numbered(0, message))._replace(number=_number(message))


def _number(message: bytes) -> int:
    return int.from_bytes(message[:2], "big")


def _numbered(number: int, message: bytes) -> bytes:
    return number.to_bytes(2, "big") + message[2:]


@_same_for_every_number
def _encode_question(question: Question) -> bytes:
    from dnslib import DNSHeader, DNSQuestion, DNSRecord

    if not all(question.name.removesuffix(".").split(".")) or not question.name.isascii():
        raise ValueError(f"{question.name} is no name of a host")
    with _refusing():
        asked = DNSQuestion(question.name, question.kind)
        return bytes(DNSRecord(DNSHeader(id=question.number, rd=1), q=asked).pack())


@_same_for_every_number
def _decode_question(message: bytes) -> Question:
    from dnslib import DNSRecord

    with _refusing():
        record = DNSRecord.parse(message)
    if record.header.qr or len(record.questions) != 1:
        raise ValueError("no question")
    return Question(record.header.id, str(record.q.qname).removesuffix("."), record.q.qtype)


@_same_for_every_number
def _encode_answer(question: Question, answer: Answer) -> bytes:
    from dnslib import AAAA, RR, A, DNSHeader, DNSQuestion, DNSRecord

    address = A if question.kind == RecordKind.A else AAAA
    header = DNSHeader(id=question.number, qr=1, aa=1, rd=1, ra=1, rcode=answer.code)
    with _refusing():
        records = [RR(question.name, question.kind, rdata=address(ip)) for ip in answer.addresses]
        return bytes(DNSRecord(header, q=DNSQuestion(question.name, question.kind), rr=records).pack())


@_same_for_every_number
def _decode_answer(message: bytes) -> Answer:
    from dnslib import DNSRecord

    with _refusing():
        record = DNSRecord.parse(message)
    if not record.header.qr:
        raise ValueError("no answer")
    found = [str(ip_address(str(one.rdata))) for one in record.rr if one.rtype in (RecordKind.A, RecordKind.AAAA)]
    return Answer(record.header.id, record.header.rcode, tuple(found))


@contextmanager
def _refusing() -> Iterator[None]:
    """Only runs with names need dnslib: cells find it loaded, a simulated run imports it when it needs it."""
    from dnslib import DNSError
    from dnslib.label import DNSLabelError

    try:
        yield
    except (DNSError, DNSLabelError) as wrong:
        raise ValueError(f"no DNS message: {wrong}") from wrong


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
