"""What an environment offers and what one opened run of it can do. Data in, data out: no fault is named here.

`Environment` is chosen once for a suite; it carries each plan into a `World` (a cell of namespaces, a simulation) and
calls `Conduct` there. `Conduct` is handed in, so that no environment imports the conductor.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from types import TracebackType
from typing import Any, NamedTuple, Protocol, Self

from harness.brokers.kind import EMBEDDED
from harness.cluster_view import ClusterView
from harness.event import OneShotEvent
from harness.levers import Evidence, Intercept, Lever
from harness.plan import ClusterShape, DriverName, RunPlan
from harness.story import Kernel, SettleResult, StoredRecord, Story, Value


@dataclass(frozen=True, slots=True)
class Supported:
    """The environment can pull this lever."""


@dataclass(frozen=True, slots=True)
class Unsupported:
    """The environment cannot pull this lever; `reason` completes the sentence `sim cannot ...`."""

    reason: str


class ActiveLever(Protocol):
    """A lever while it is pulled. Leaving the context that gave it means: undone AND confirmed."""

    @property
    def began_ns(self) -> int:
        """Absolute clock value just before the lever was pulled."""
        ...

    @property
    def confirmed_ns(self) -> int:
        """Absolute clock value when the world confirmed it."""
        ...

    async def evidence(self, since_ns: int | None = None, until_ns: int | None = None) -> Evidence:
        """What the lever is seen to have done. Raises WorldError.

        Without bounds: all since it was pulled, as its own counters have it. With an absolute clock value as a bound:
        what met the client's traffic in that interval, both ends included, the lab's own probes left out.
        """
        ...

    async def begin_undoing(self) -> None:
        """Its fault is healed from now on. Levers are undone one after the other, so what one of them can stop doing
        beforehand, it stops: who is cut off when another is undone, and dials again, is not to meet it. Most stop
        nothing beforehand. Raises WorldError."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class BundledClient:
    """The bundled client as a process of the world: `client.serve.serve` with this launch record (JSON object)."""

    launch: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Executable:
    """A program of the user's: started without a shell, with FAULTLAB_SUBJECT in its environment, and of the user's
    variables with those that programs need and those that `pass_env` names."""

    argv: tuple[str, ...]
    launch: Mapping[str, object]
    pass_env: tuple[str, ...] = ()


Program = BundledClient | Executable


OutputLine = bytes | dict[str, Any] | tuple[int, str, dict[str, Value]]
"""A line of a subject's, without its end. A world that runs the bundled client in its own process hands over
objects in place of JSON: a trace event as (at_ns, kind, fields), anything else as a dictionary."""


class OutputBatch(NamedTuple):
    """What a subject said at once, line by line without line ends, and the absolute clock value at which the harness
    had it."""

    lines: Sequence[OutputLine]
    received_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Dial:
    """A dial to an advertised address, as the wire shows it: absolute clock value, `127.0.2.1:9092`, and the port that
    it comes from."""

    at_ns: int
    address: str
    port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WireSpan:
    """What one connection of a program did, as the wire shows it: absolute clock values. `what` is `dial`, `answer` (it
    sent bytes, and awaits the first ones back) or how the connection ended, which takes no time. `ended_ns` is None
    where it has not ended; `port` is the one that the connection comes from."""

    what: str
    began_ns: int
    ended_ns: int | None
    outcome: str | None
    address: str
    port: int


LOG_LIMIT_BYTES = 256 << 20
"""What a subject may write on its standard error in one run."""


class LogLimitExceeded(Exception):
    """The subject was ended since its log would have filled the disk."""


CLIENT = "the client"
"""What a world calls the subject among the processes that it watches."""


class Process(Protocol):
    """A started subject: lines in, lines out. stderr goes to the log file that was named at the start."""

    async def subscribe(self, on_output: Callable[[OutputBatch], None]) -> None:
        """Hand over every line as it comes, until end of file; for one caller. What `on_output` raises ends it.

        Lines above 1 MiB raise ValueError; a log above LOG_LIMIT_BYTES ends the subject and raises LogLimitExceeded."""
        ...

    async def write(self, line: bytes) -> None:
        """Send one line (without its line end). Raises BrokenPipeError where the subject reads no more."""
        ...

    async def end(self, *, grace_s: float) -> int | None:
        """Close its stdin, wait up to `grace_s`, then kill it. The exit code, None where it was killed."""
        ...


class World(Protocol):
    """One opened run: clock, chance, links, brokers, names, and the subject's start.

    `advertised_address(broker)` is what the broker advertises: `("127.0.2.1", 9092)`.
    """

    cluster: ClusterShape
    rng: Random
    kernel: Kernel

    def now_ns(self) -> int: ...

    def advertised_address(self, broker: int) -> tuple[str, int]: ...

    def view(self) -> ClusterView:
        """The cluster as its controller knows it now."""
        ...

    def pull(self, lever: Lever) -> AbstractAsyncContextManager[ActiveLever]: ...

    def hold_request(self, request: Intercept) -> AbstractAsyncContextManager[OneShotEvent]:
        """The request that this intercept means waits in its broker until the context is left; the event happens when
        it has come. Entering and leaving raise WorldError."""
        ...

    async def start(self, program: Program, log: Path | None) -> Process: ...

    def monitor_lag(self) -> "LagMonitor":
        """Start sampling how late the loop's timers come; ended by `LagMonitor.end`."""
        ...

    def delays(self) -> Mapping[str, float]:
        """How long each process on the way between the client and its brokers has been kept from running since it
        began: seconds by name, the client's as `CLIENT`. Empty where time is virtual."""
        ...

    async def settle(self, limit_s: float) -> SettleResult:
        """Wait until no connection is left, also none that its process has closed or left behind, through which
        something could still reach a log; up to `limit_s`. After healing that can take 110 s: a closed connection's
        last retransmission comes 53 s after its close, and the kernel forgets it after 107 s. Raises WorldError."""
        ...

    async def read_log(self, topic: str, partition: int) -> tuple[StoredRecord, ...]:
        """Every record of a partition, in the order of the offsets; only after `settle` is that the last word.

        Raises WorldError for a partition that the cluster does not have, and for a log that cannot be read.
        """
        ...

    def dials(self) -> tuple[Dial, ...]:
        """The dials that came from anybody but the lab itself, so far, a retransmitted SYN being none; empty where the
        world does not look. Raises WorldError."""
        ...

    def wire_spans(self) -> tuple[WireSpan, ...]:
        """What the connections of a program did so far, in time's order; empty where the world does not look."""
        ...

    def failure(self) -> "asyncio.Future[str]":
        """Done when a part of the world (Toxiproxy, a broker) died by itself; the result says which and how."""
        ...


class LagMonitor(Protocol):
    """Lateness of timers, in seconds, one number a sample."""

    def end(self) -> tuple[float, ...]: ...


ProgressCallback = Callable[[str], None]
"""Called with what the run is doing now, in three or four words: `dialling broker 2`, `waiting: Net.ReadTimeout`."""

Conduct = Callable[[RunPlan, World, ProgressCallback, Path | None], Awaitable[Story]]
"""`harness.conductor.conduct`: follows the plan in the world; the path is the run's log folder."""


class Environment(Protocol):
    """A kind of world: a context manager. `run` blocks, may be called from several threads at once (up to `lanes`)."""

    name: str
    lanes: int
    virtual_time: bool
    """Whether time is computed: a long wait costs nothing."""
    keeps_logs: bool
    """Whether a run has processes whose logs are worth a folder."""

    def supports(self, lever: Lever, cluster: str = EMBEDDED) -> Supported | Unsupported:
        """Whether it pulls this lever on brokers of that kind. Pure: `validate` and the documentation ask it too."""
        ...

    def supports_cluster(self, kind: str) -> Supported | Unsupported: ...

    def supports_driver(self, driver: DriverName) -> Supported | Unsupported: ...

    def __enter__(self) -> Self:
        """Prepare what all runs share. Entered once, from the main thread. Raises EnvironmentUnavailable."""
        ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Interrupt the runs under way and leave nothing behind."""
        ...

    def run(self, plan: RunPlan, progress: ProgressCallback, logs: Path | None) -> Story:
        """Carry the plan into a new world. Raises RunInterrupted after `interrupt`."""
        ...

    def interrupt(self) -> None:
        """End every run under way at once, and start no other. May be called from any thread, repeatedly."""
        ...


class EnvironmentUnavailable(Exception):
    """This machine cannot do it: `reason` says what was refused, `remedy` what to do."""

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(f"{reason}; {remedy}")
        self.reason = reason
        self.remedy = remedy

    def __reduce__(self) -> tuple[type["EnvironmentUnavailable"], tuple[str, str]]:
        """Crosses from a cell into the process that asked for it."""
        return (type(self), (self.reason, self.remedy))


class WorldError(Exception):
    """A part of an opened world failed while it was asked for something: `code` is stable, the text says what to do.

    Raised by every method of World and ActiveLever; the conductor makes it the run's lab error.
    """

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.text = text

    def __reduce__(self) -> tuple[type["WorldError"], tuple[str, str]]:
        """Crosses from a cell into the process that asked for it."""
        return (type(self), (self.code, self.text))


class RunInterrupted(Exception):
    """The suite was stopped while this run was under way: nothing of it counts."""
