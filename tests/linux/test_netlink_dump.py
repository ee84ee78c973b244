"""Protects lists of the kernel: one that was interrupted is neither used nor an error, it is asked for again."""

import asyncio
import errno
from collections.abc import AsyncIterator, Iterator

import pytest
from pyroute2.netlink import NLM_F_DUMP_INTR
from pyroute2.netlink.exceptions import NetlinkError

from harness.environments.linux.netlink_dump import ATTEMPTS, dump

Message = dict[str, dict[str, int]]


def message(number: int, flags: int = 0) -> Message:
    return {"header": {"flags": flags}, "body": {"number": number}}


class Kernel:
    """Gives one answer after the other: messages, or an error."""

    def __init__(self, *answers: list[Message] | NetlinkError) -> None:
        self._answers: Iterator[list[Message] | NetlinkError] = iter(answers)

    async def ask(self) -> AsyncIterator[Message]:
        answer = next(self._answers)
        if isinstance(answer, NetlinkError):
            raise answer
        return self._messages(answer)

    async def _messages(self, answer: list[Message]) -> AsyncIterator[Message]:
        for one in answer:
            yield one


BUSY = NetlinkError(errno.EBUSY, "Device or resource busy")
CHANGED = [message(1), message(2, NLM_F_DUMP_INTR)]


def test_what_was_interrupted_is_asked_for_again() -> None:
    whole = [message(1), message(2), message(3)]
    assert asyncio.run(dump(Kernel(BUSY, CHANGED, BUSY, whole).ask)) == whole


@pytest.mark.parametrize("answer", [BUSY, CHANGED], ids=["busy", "changed"])
def test_a_list_that_never_holds_still_is_an_error(answer: list[Message] | NetlinkError) -> None:
    with pytest.raises(NetlinkError):
        asyncio.run(dump(Kernel(*[answer] * ATTEMPTS).ask))


def test_any_other_refusal_is_final() -> None:
    with pytest.raises(NetlinkError) as caught:
        asyncio.run(dump(Kernel(NetlinkError(errno.EPERM, "no"), [message(1)]).ask))
    assert caught.value.code == errno.EPERM
