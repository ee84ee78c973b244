"""Lists that the kernel gives over netlink: one that was interrupted is asked for again."""

import asyncio
import errno
from collections.abc import AsyncIterable, Awaitable, Callable
from typing import Any

from pyroute2.netlink import NLM_F_DUMP_INTR
from pyroute2.netlink.exceptions import NetlinkDumpInterrupted, NetlinkError

ATTEMPTS = 20
PAUSE_S = 0.005
"""Between two attempts: what is listed changes within microseconds."""


async def dump(ask: Callable[[], Awaitable[AsyncIterable[Any]]]) -> list[Any]:
    """All messages of one uninterrupted dump. `ask` sends the request anew and returns its answers.

    The kernel marks the messages of a dump during which the list changed (NLM_F_DUMP_INTR): some may be missing. It
    refuses one as busy (EBUSY) while an earlier one on the same socket has not been read to its end.
    Raises NetlinkError, after 20 attempts too.
    """
    for attempt in range(ATTEMPTS):
        if attempt:
            await asyncio.sleep(PAUSE_S)
        try:
            found = [message async for message in await ask()]
        except NetlinkError as error:
            if error.code != errno.EBUSY:
                raise
            refused = error
            continue
        if not any(message["header"]["flags"] & NLM_F_DUMP_INTR for message in found):
            return found
        refused = NetlinkDumpInterrupted(errno.EINTR, "the list changed during each of several dumps")
    raise refused
