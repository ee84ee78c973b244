"""What a client's program holds by name: its producers, dialers, writers. The names come from the lab's commands."""

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Generic, Protocol, TypeVar

from client.operations.base import CommandError

MAIN = "main"
"""The handle of commands that name none."""


class Handle(Protocol):
    """Anything that a program constructs, uses and closes."""

    async def close(self) -> None:
        """Returns when the real client's close does. Raises ClientError."""
        ...


H = TypeVar("H", bound=Handle)


class Handles(Generic[H]):
    """The handles of one session. `noun` is what they are called in errors, `closed` whether all of them are closed.

    Every method raises CommandError where the state does not allow it, and whatever the handles' own code raises.
    """

    def __init__(self, noun: str) -> None:
        self.closed = False
        self._noun = noun
        self._open: dict[str, H] = {}
        self._opening: dict[str, None] = {}
        self._closing: dict[str, None] = {}
        self._closing_all = False

    def __getitem__(self, name: str) -> H:
        """An open handle, or one that is being closed."""
        if name not in self._open:
            raise CommandError(f"there is no {self._named(name)} before a connect has succeeded")
        return self._open[name]

    async def open(self, name: str, construct: Callable[[], Awaitable[H]]) -> None:
        """Construct a handle. After a failure the name is free again."""
        if self._closing_all:
            raise CommandError("the subject is closing")
        if name in self._open or name in self._opening:
            raise CommandError(f"there is a {self._named(name)} already, or one on its way")
        self._opening[name] = None
        try:
            self._open[name] = await construct()
        finally:
            del self._opening[name]

    async def close(self, name: str | None = None) -> None:
        """Close one handle; without a name all of them, the last one first, and for good."""
        if self._closing_all:
            raise CommandError("the subject is closing already")
        if name is not None:
            await self._close_one(name)
            return
        for other in self._closing:
            raise CommandError(f"the {self._named(other)} is closing still")
        self._closing_all = True
        try:
            async with AsyncExitStack() as stack:
                for handle in self._open.values():
                    stack.push_async_callback(handle.close)
        finally:
            self._open.clear()
            self.closed = True

    async def _close_one(self, name: str) -> None:
        handle = self[name]
        if name in self._closing:
            raise CommandError(f"the {self._named(name)} is closing already")
        self._closing[name] = None
        try:
            await handle.close()
        finally:
            del self._closing[name], self._open[name]

    def _named(self, name: str) -> str:
        return self._noun if name == MAIN else f"{self._noun} {name}"
