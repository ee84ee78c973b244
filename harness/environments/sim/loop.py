"""An asyncio event loop on virtual time: when nothing is ready, the clock jumps to the next timer.

It does no real I/O and has no self-pipe and no executor: nothing of the real world's time gets in, so equal seeds give
equal events. Works on the parts of `asyncio.BaseEventLoop` that are the same in Python 3.11 to 3.13.
"""

import asyncio
from asyncio.events import Handle, TimerHandle
from collections import deque
from collections.abc import Callable, Coroutine
from contextvars import Context, copy_context
from heapq import heapify, heappop, heappush
from random import Random
from threading import get_ident
from typing import Any, NoReturn, TypeVar, TypeVarTuple

from harness.environments.sim import datagrams, endpoints
from harness.environments.sim.hang_report import describe_unfinished
from harness.environments.sim.hosts import HOST, Host, HostState
from harness.environments.sim.network import Network
from harness.environments.sim.transport import SimTransport

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

START_S = 1000.0
"""The clock's first value. Not 0: code that mistakes a moment for a duration must not pass by accident."""

LIVELOCK_ROUNDS = 200_000
"""Rounds of the loop without any time passing after which it is a livelock."""

LONGEST_LULL_S = 86_400.0
"""Where the kernel alone has been busy for so long, with keep-alives of idle connections, no process wakes any more:
they would go on for ever."""


class Deadlock(RuntimeError):
    """Nothing is scheduled and the main task is not done. The text names what hangs and where."""


class Livelock(RuntimeError):
    """The loop spins without time passing: something waits in a `sleep(0)` loop."""


class Interrupted(RuntimeError):
    """`SimLoop.interrupt` was called."""


class KernelTimer:
    """A callback of the simulated kernel: belongs to no host, so no lever stops it. Errors in it end the run.

    Filled in by the loop, as all below: to call an `__init__` takes longer than to set what it would set.
    """

    __slots__ = ("args", "callback", "when")
    when: float
    callback: Callable[..., None] | None
    args: tuple[Any, ...]

    def cancel(self) -> None:
        self.callback = None
        self.args = ()  # or it and what it would have called hold each other


class _Handle(Handle):
    """asyncio's handle without its debugging, which takes half of the time of a callback."""

    __slots__ = ()
    _repr = None
    _source_traceback = None

    def cancel(self) -> None:
        self._cancelled = True
        self._callback = self._args = None  # type: ignore[assignment]


class _TimerHandle(TimerHandle):
    __slots__ = ()
    _repr = None
    _source_traceback = None

    def cancel(self) -> None:
        if not self._cancelled:
            self._loop._timer_handle_cancelled(self)  # type: ignore[attr-defined]
            self._cancelled = True
            self._callback = self._args = None  # type: ignore[assignment]


_new_kernel_timer: Callable[[type[KernelTimer]], KernelTimer] = KernelTimer.__new__
_new_handle: Any = _Handle.__new__
_new_timer_handle: Any = _TimerHandle.__new__


class SimLoop(asyncio.BaseEventLoop):
    """One simulated world's time, hosts and network. `now` is what `time` tells.

    `rng` is the only source of chance. `hosts` are in the order of their creation; code outside of any host (a bare
    `run_until_complete`) runs on the host `main`. `transports` are those that are not lost yet.
    """

    _closed: bool
    _ready: deque[Handle]
    _scheduled: list[tuple[float, int, KernelTimer | TimerHandle]]
    _thread_id: int | None
    _stopping: bool

    def __init__(self, rng: Random) -> None:
        super().__init__()
        self.now = START_S
        self._sequence = 0
        self._cancelled_timers = 0
        self._interrupted = False
        self._watcher: Callable[[float], None] | None = None
        self.stopped_host_count = 0
        self.hosts: list[Host] = []
        self.transports: dict[SimTransport, None] = {}
        self.network = Network(self, rng)
        self.main = self.new_host("main")

    get_debug = staticmethod(bool)
    """False. A C function, since asyncio asks at each future."""

    def time(self) -> float:
        return self.now

    def create_future(self) -> asyncio.Future[Any]:
        return asyncio.Future(loop=self)

    def new_host(self, name: str) -> Host:
        """A further host. Names need not be unique: a restarted one has its old name."""
        host = Host(name, self)
        self.hosts.append(host)
        return host

    def interrupt(self) -> None:
        """Make the loop raise Interrupted as soon as it can. May be called from another thread."""
        self._interrupted = True

    def close(self) -> None:
        scheduled, self._scheduled = self._scheduled, []
        for _, _, timer in scheduled:
            timer.cancel()
        super().close()

    def dispose(self) -> None:
        """The simulation is over: drop what holds its parts together, so that they go away at once."""
        for host in self.hosts:
            host.dispose()
        self.hosts.clear()
        self.transports.clear()
        self.network.dispose()
        self.set_exception_handler(None)

    def clear_interrupt(self) -> None:
        """Allow the loop to run again, to end what is left."""
        self._interrupted = False

    def watch_timers(self, watcher: Callable[[float], None] | None) -> None:
        """Tell `watcher` how late, in seconds, each timer of a host fires from now on; None ends it."""
        self._watcher = watcher

    def call_kernel_at(self, when: float, callback: Callable[..., None], *args: Any) -> KernelTimer:
        """Call back in the simulated kernel at a moment of this clock."""
        timer = _new_kernel_timer(KernelTimer)
        timer.when = when
        timer.callback = callback
        timer.args = args
        self._sequence += 1
        heappush(self._scheduled, (when, self._sequence, timer))
        return timer

    def requeue(self, handles: deque[Handle]) -> None:
        """Run these handles next, before those that are ready already."""
        self._ready.extendleft(reversed(handles))

    # What asyncio asks of its loop.

    def call_soon(self, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None) -> Handle:
        if self._closed:
            raise RuntimeError("Event loop is closed")
        handle: Any = _new_handle(_Handle)
        handle._callback = callback
        handle._args = args
        handle._cancelled = False
        handle._context = copy_context() if context is None else context
        self._ready.append(handle)
        return handle  # type: ignore[no-any-return]

    def call_at(
        self, when: float, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> TimerHandle:
        if self._closed:
            raise RuntimeError("Event loop is closed")
        timer: Any = _new_timer_handle(_TimerHandle)
        timer._callback = callback
        timer._args = args
        timer._cancelled = False
        timer._context = copy_context() if context is None else context
        timer._loop = self
        timer._when = when
        timer._scheduled = True
        self._sequence += 1
        heappush(self._scheduled, (when if when > self.now else self.now, self._sequence, timer))
        return timer  # type: ignore[no-any-return]

    def create_task(self, coro: Coroutine[Any, Any, T], **kwargs: Any) -> asyncio.Task[T]:  # type: ignore[override]
        if self._closed:
            raise RuntimeError("Event loop is closed")
        context: Context | None = kwargs.get("context")
        host = HOST.get(None) if context is None else context.get(HOST)
        if host is None:
            host = self.main
            kwargs["context"] = host.context.copy()
        task: asyncio.Task[T] = asyncio.Task(coro, loop=self, **kwargs)
        host.track(task)
        return task

    def _run_once(self) -> None:
        """Run rounds until the loop is stopped: asyncio would call this for each of them."""
        ready = self._ready
        rounds = 0  # without any time passing
        while True:
            if self._interrupted:
                raise Interrupted
            if not ready and not self._stopping:
                self._advance_clock(ready)
                rounds = 0
            elif rounds > LIVELOCK_ROUNDS:
                raise Livelock(
                    f"no time passes after {self.now - START_S:.6f} s; busy:{describe_unfinished(self.hosts)}"
                )
            rounds += 1
            for _ in range(len(ready)):
                handle = ready.popleft()
                if handle._cancelled or (self.stopped_host_count and self._host_stopped(handle)):
                    continue
                try:
                    handle._context.run(handle._callback, *handle._args)  # type: ignore[attr-defined]
                except (SystemExit, KeyboardInterrupt):
                    raise
                except BaseException as error:  # noqa: BLE001 - a loop outlives its callbacks
                    self.call_exception_handler(
                        {"message": f"Exception in callback {handle!r}", "exception": error, "handle": handle}
                    )
            if self._stopping:
                return

    def _advance_clock(self, ready: deque[Handle]) -> None:
        """Set the clock to the next timer, until one makes something ready. The kernel's callbacks run here."""
        scheduled, watcher = self._scheduled, self._watcher
        since = self.now
        while not ready:
            if not scheduled:
                raise self._deadlock(since)
            now = scheduled[0][0]
            if now - since > LONGEST_LULL_S:
                if all(type(timer) is KernelTimer for _, _, timer in scheduled):
                    raise self._deadlock(since)
                since = now
            while scheduled and scheduled[0][0] <= now:
                when, _, timer = heappop(scheduled)
                if type(timer) is KernelTimer:
                    if timer.callback is not None:
                        self.now = now
                        timer.callback(*timer.args)
                elif not timer._cancelled:  # type: ignore[union-attr]
                    self.now = now
                    timer._scheduled = False  # type: ignore[union-attr]
                    ready.append(timer)  # type: ignore[arg-type]
                    if watcher is not None:
                        watcher(now - when)

    def _deadlock(self, since: float) -> Deadlock:
        return Deadlock(
            f"nothing is scheduled after {since - START_S:.6f} s, waiting:{describe_unfinished(self.hosts)}"
        )

    def _host_stopped(self, handle: Handle) -> bool:
        """Whether this handle's host does not run now; keeps the handle if the host may run again."""
        host: Host | None = handle._context.get(HOST)  # type: ignore[attr-defined]
        if host is None or host.state is HostState.RUNNING:
            return False
        if host.state is HostState.PAUSED:
            host.held.append(handle)
        return True

    def _timer_handle_cancelled(self, handle: TimerHandle) -> None:
        """asyncio's own bookkeeping: a cancelled timer stays in the heap until its time, or until too many do."""
        self._cancelled_timers += 1
        if self._cancelled_timers > 100 and self._cancelled_timers > len(self._scheduled) // 2:
            self._scheduled[:] = [entry for entry in self._scheduled if not getattr(entry[2], "_cancelled", False)]
            heapify(self._scheduled)
            self._cancelled_timers = 0

    def _write_to_self(self) -> None:
        if self._thread_id is not None and self._thread_id != get_ident():
            raise RuntimeError("virtual time: no other thread may call into the simulation")

    async def create_connection(self, protocol_factory: Any, host: Any = None, port: Any = None, **kwargs: Any) -> Any:
        """As asyncio's, for an IP address; raises ValueError for what the simulation does not have (TLS)."""
        return await endpoints.connect(self, protocol_factory, host, port, **kwargs)

    async def create_server(self, protocol_factory: Any, host: Any = None, port: Any = None, **kwargs: Any) -> Any:
        """As asyncio's, for an IP address; raises ValueError for what the simulation does not have (TLS)."""
        return await endpoints.serve(self, protocol_factory, host, port, **kwargs)

    async def create_datagram_endpoint(self, protocol_factory: Any, local_addr: Any = None, **kwargs: Any) -> Any:  # type: ignore[override]
        """As asyncio's, for addresses as texts."""
        return await datagrams.open_endpoint(self, protocol_factory, local_addr=local_addr, **kwargs)

    def run_in_executor(self, executor: Any, func: Callable[[*Ts], T], *args: *Ts) -> NoReturn:
        raise RuntimeError("virtual time: threads have no place here, run_in_executor would leave the clock")

    async def getaddrinfo(self, host: Any, port: Any, **kwargs: Any) -> NoReturn:
        raise RuntimeError(f"virtual time: no name service here, resolve {host!r} through the resolver handed in")

    async def getnameinfo(self, sockaddr: Any, flags: int = 0) -> NoReturn:
        raise RuntimeError(f"virtual time: no name service here, asked for {sockaddr!r}")
