"""Channels: how goroutines wait for one another.

A goroutine is an asyncio task. An operation that can proceed does so without giving the loop a turn, as in Go; one that
cannot parks its task in the channel's queue, first come, first served.
Source: The Go Programming Language Specification, "Channel types"; Go's runtime/chan.go.

Cancelling a parked task takes it out of the queue. A task that is cancelled after its partner was found takes the value
with it: Go cannot cancel a goroutine, so cancelling stands for the end of the process.
"""

from typing import Any, Generic, NamedTuple, TypeVar

from client.golang.scheduler import Waiter

T = TypeVar("T")


class ClosedChannelError(Exception):
    """What panics in Go: a send on a closed channel, or a second close."""


class Completion(NamedTuple):
    """How a parked operation ended. `case` is its name among a select's; `value` and `ok` are a receive's."""

    case: str
    value: Any
    ok: bool


class ParkedOperation:
    """One operation of a parked task. Those of one select share a waiter: the first to wake it wins."""

    __slots__ = ("case", "value", "waiter")

    def __init__(self, waiter: Waiter[Completion], case: str, value: object) -> None:
        self.waiter = waiter
        self.case = case
        self.value = value


class Channel(Generic[T]):
    """A channel of `capacity` values; 0: a send waits for its receiver."""

    __slots__ = ("_buffer", "_closed", "_receivers", "_senders", "capacity")

    def __init__(self, capacity: int = 0) -> None:
        self.capacity = capacity
        self._buffer: list[T] = []  # lists here and below: most stay empty, and an empty deque is ten times as large
        self._senders: list[ParkedOperation] = []
        self._receivers: list[ParkedOperation] = []
        self._closed = False

    def __len__(self) -> int:
        """Values in the buffer."""
        return len(self._buffer)

    async def send(self, value: T) -> None:
        """Hand a value over. Raises ClosedChannelError where the channel is closed, also while it waits."""
        if not self.try_send(value):
            await self.park_sender(Waiter(), "", value).waiter

    async def receive(self) -> tuple[T | None, bool]:
        """The next value and True; None and False once the channel is closed and empty."""
        taken = self.try_receive()
        if taken is not None:
            return taken
        waiter: Waiter[Completion] = Waiter()
        self.park_receiver(waiter, "")
        await waiter
        return waiter.value.value, waiter.value.ok

    def __aiter__(self) -> "Channel[T]":
        """`for v := range ch`: every value until the channel is closed and empty."""
        return self

    async def __anext__(self) -> T:
        value: Any
        taken = self.try_receive()
        if taken is None:
            waiter: Waiter[Completion] = Waiter()
            self.park_receiver(waiter, "")
            await waiter
            _, value, ok = waiter.value
        else:
            value, ok = taken
        if not ok:
            raise StopAsyncIteration
        return value  # type: ignore[no-any-return]

    def close(self) -> None:
        """No more sends: receivers get what is buffered, then nothing. Raises ClosedChannelError the second time.

        Those that wait are woken from the last to the first, so that of all the first one runs next: runtime/chan.go
        (closechan) puts them on a stack.
        """
        if self._closed:
            raise ClosedChannelError("close of closed channel")
        self._closed = True
        senders, self._senders = self._senders, []
        for sender in reversed(senders):
            if sender.waiter.waits:
                sender.waiter.fail(ClosedChannelError("send on closed channel"))
        receivers, self._receivers = self._receivers, []
        for receiver in reversed(receivers):
            if receiver.waiter.waits:
                receiver.waiter.wake(Completion(receiver.case, None, False))

    # What select is built from: none of these waits.

    def try_send(self, value: T) -> bool:
        """Send if that needs no waiting."""
        if self._closed:
            raise ClosedChannelError("send on closed channel")
        receivers = self._receivers
        while receivers:
            receiver = receivers.pop(0)
            if receiver.waiter.waits:
                receiver.waiter.wake(Completion(receiver.case, value, True))
                return True
        if len(self._buffer) < self.capacity:
            self._buffer.append(value)
            return True
        return False

    def try_receive(self) -> tuple[T | None, bool] | None:
        """Receive if that needs no waiting, else None."""
        sender = _pop_waiter(self._senders) if self._senders else None
        if self._buffer:
            value: Any = self._buffer.pop(0)
            if sender is not None:
                self._buffer.append(sender.value)  # type: ignore[arg-type]
        elif sender is not None:
            value = sender.value
        else:
            return (None, False) if self._closed else None
        if sender is not None:
            sender.waiter.wake(Completion(sender.case, None, True))
        return value, True

    def can_send(self) -> bool:
        return (
            self._closed
            or len(self._buffer) < self.capacity
            or (bool(self._receivers) and _has_waiter(self._receivers))
        )

    def can_receive(self) -> bool:
        return bool(self._buffer) or self._closed or (bool(self._senders) and _has_waiter(self._senders))

    def park_sender(self, waiter: Waiter[Completion], case: str, value: T) -> ParkedOperation:
        parked = ParkedOperation(waiter, case, value)
        self._senders.append(parked)
        return parked

    def park_receiver(self, waiter: Waiter[Completion], case: str) -> ParkedOperation:
        parked = ParkedOperation(waiter, case, None)
        self._receivers.append(parked)
        return parked

    def unpark(self, parked: ParkedOperation) -> None:
        """Take a select's losing case out of its queue."""
        for queue in (self._senders, self._receivers):
            if parked in queue:
                queue.remove(parked)
                return


def _has_waiter(queue: list[ParkedOperation]) -> bool:
    """Whether a task still waits. Cancelled tasks, and selects that another case won, are dropped on the way."""
    while queue and not queue[0].waiter.waits:
        queue.pop(0)
    return bool(queue)


def _pop_waiter(queue: list[ParkedOperation]) -> ParkedOperation | None:
    return queue.pop(0) if _has_waiter(queue) else None
