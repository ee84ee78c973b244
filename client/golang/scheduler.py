"""Which of several woken goroutines runs first: the one that was woken last, unless an idle processor steals another.

A goroutine that is woken runs next on its waker's processor, as soon as the waker waits. One that was to run next
before goes to the end of the processor's queue. There it waits until a whole chain of wake-ups has come to rest, or
until an idle processor has woken up and steals it. So who unlocks a mutex for a waiter, and then wakes a goroutine that
takes the same mutex, lets that one overtake; a queue in the order of the wake-ups would not.

A goroutine that is started counts as woken. No time passes here: how long it takes until one is stolen is counted in
steps of other goroutines. For goroutines whose sleeps have ended see sleep.py; one whose socket is ready, or whose
ticker or timer fires, runs in the order of the loop.
Source: Go 1.26.8, runtime/proc.go (ready, newproc, runqput, runqget, runqgrab).
"""

from asyncio import CancelledError, TimerHandle, get_running_loop
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextvars import Context, ContextVar, copy_context
from random import Random
from typing import Any, Generic, TypeVar

T = TypeVar("T")

STOLEN = 0.1
"""The chance that the oldest in the queue is stolen before another goroutine takes a step: 10 steps on average.

It depends on how busy the machine is, and this is for one that runs a suite. bench/goroutine_delay.go, Go 1.26.8, two
processors: with nothing beside it an idle processor steals after 22 to 29 us in the median, 55 us in nine of ten times;
beside two programs that compute, after 60 us in a quarter of the times, and in half of them not before the others have
finished. A step takes 10 to 22 us: with Sarama 1.60.1 a message passes five goroutines in 50 to 110 us, from the
producer's Input to the socket.
"""

HELD_UP = 0.5
"""The chance that of sleeps that end together the first one's goroutine runs at once, and the others only when it has
come to rest: see sleep.py."""


class Waiter(Generic[T]):
    """What a goroutine waits on: `await waiter`, then `waiter.value`. Made and awaited at once, by one task.

    To its task it is one of asyncio's futures. But its wake-up is the scheduler's, which calls the task itself: that
    costs the loop one callback, as a future's does.
    """

    __slots__ = ("_asyncio_future_blocking", "_loop", "callback", "context", "error", "value", "waits")

    callback: Callable[["Waiter[T]"], object]
    context: Context
    value: T

    def __init__(self) -> None:
        self._loop = get_running_loop()
        self._asyncio_future_blocking = False
        self.error: BaseException | None = None
        self.waits = True
        """Whether it can still be woken: not if it was, even if it has not run yet, or if its task was cancelled."""

    def wake(self, value: T) -> None:
        """Make the goroutine run, with this value."""
        self.value = value
        self.waits = False
        current_scheduler().ready(self)

    def fail(self, error: BaseException) -> None:
        """Make the goroutine run, and raise this."""
        self.error = error
        self.waits = False
        current_scheduler().ready(self)

    def __await__(self) -> Generator["Waiter[T]", None, None]:
        self._asyncio_future_blocking = True
        return iter((self,))  # type: ignore[return-value]

    # What a task asks of the future that it waits on.

    def add_done_callback(self, callback: Callable[["Waiter[T]"], object], *, context: Context) -> None:
        self.callback = callback
        self.context = context

    def result(self) -> None:
        if self.error is not None:
            error, self.error = self.error, None  # what an error's traceback holds must not hold the error
            try:
                raise error
            finally:
                del error

    def cancel(self, msg: object = None) -> bool:
        if not self.waits:
            return False
        self.error = CancelledError()
        self.waits = False
        callback, context = self.callback, self.context
        del self.callback, self.context  # or they and this, which their task waits on, hold each other
        self._loop.call_soon(callback, self, context=context)
        return True


class Sleeper(Waiter[None]):
    """A goroutine that sleeps. `begun_in` is the chain of wake-ups in which it began to."""

    __slots__ = ("begun_in", "duration_s", "timer")

    timer: TimerHandle

    def __init__(self, duration_s: float, begun_in: int) -> None:
        super().__init__()
        self.duration_s = duration_s
        self.begun_in = begun_in


class _NewGoroutine:
    """A goroutine that has not begun: to the scheduler it is one more that was woken."""

    __slots__ = ("callback", "context")

    def __init__(self, begin: Callable[[], object]) -> None:
        self.context = copy_context()
        self.callback: Callable[[object], object] = lambda _self: begin()


_Runnable = Waiter[Any] | _NewGoroutine


class Scheduler:
    """One subject's goroutines that were woken or started, and have not run yet."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed).random
        self._next: _Runnable | None = None
        self._queue: deque[_Runnable] = deque()
        self._held_up: deque[_Runnable] = deque()
        self._loop = get_running_loop()
        self._context = copy_context()
        self.has_work = False
        """Whether a goroutine was woken or started and has not run yet."""
        self.chain = 0
        """Counts the times that work began after all goroutines had come to rest."""
        self.asleep: dict[Sleeper, None] = {}
        """The goroutines whose sleeps have not ended, in the order in which they fell asleep."""

    def start(self, begin: Callable[[], object]) -> None:
        """Call this next, in the caller's context: a `go` statement."""
        self.ready(_NewGoroutine(begin))

    def ready(self, runnable: _Runnable) -> None:
        """Run it next."""
        if self._next is not None:
            self._queue.append(self._next)
        self._next = runnable
        if not self.has_work:
            self.has_work = True
            self.chain += 1
            self._loop.call_soon(self._run, context=self._context)

    def awaken(self, sleepers: Sequence[Sleeper]) -> None:
        """Wake goroutines whose sleeps have ended together, given in the order in which they ended.

        Those that are held up wait until the goroutines that can run have come to rest, unless one is stolen. So does
        each where others can run: of two sleeps that end some tenths of a millisecond apart, the first has by then done
        what it does at once. Here a step takes ten times as long as in Go, so without this the second would end in the
        midst of it.
        """
        woken = 0 if self.has_work else 1 if self._random() < HELD_UP else len(sleepers)
        for sleeper in sleepers[:woken]:
            sleeper.wake(None)
        for sleeper in sleepers[woken:]:
            sleeper.value, sleeper.waits = None, False
            self._held_up.append(sleeper)

    def _run(self) -> None:
        """One step. The loop calls whatever else is ready between two of them."""
        others = self._queue or self._held_up
        runnable = self._next
        if runnable is None or (others and self._random() < STOLEN):
            runnable = others.popleft()
        else:
            self._next = None
        runnable.context.run(runnable.callback, runnable)  # type: ignore[arg-type]
        if self._next is None and not self._queue and not self._held_up:
            self.has_work = False
        else:
            self._loop.call_soon(self._run, context=self._context)


_SCHEDULER: ContextVar[Scheduler] = ContextVar("scheduler")


def current_scheduler() -> Scheduler:
    """The scheduler of the running task; a new one where none was started."""
    return _SCHEDULER.get(None) or start_scheduler(0)


def start_scheduler(seed: int) -> Scheduler:
    """Order the wake-ups of the tasks that are started from here on by a scheduler of their own."""
    made = Scheduler(seed)
    _SCHEDULER.set(made)
    return made
