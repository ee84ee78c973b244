"""What a packet rule that delays holds: dials, or all packets of a link."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from harness.environments.sim.segment import Address, Segment
from harness.levers import Delays
from harness.sightings import Sightings

if TYPE_CHECKING:
    from harness.environments.sim.loop import KernelTimer, SimLoop

Deliver = Callable[[Segment], None]


class Hold(Protocol):
    def matches(self, segment: Segment, at_ns: int | None, *, picked: bool) -> bool:
        """Whether the rule takes this segment out of the way; counts what it did. `picked`: chance would have it."""
        ...

    def take(self, segment: Segment, loop: SimLoop, deliver: Deliver) -> None:
        """Deliver a segment that matched when its delay is over."""
        ...

    def release_all(self, loop: SimLoop) -> None:
        """Deliver all that is held at once."""
        ...


def hold_for(delays: Delays, seen: Sightings, *, dials: bool, overtaken: bool) -> Hold:
    """`seen` takes what counts: all that is held, or where packets are held to be `overtaken` those that were."""
    if dials:
        return _DialHold(delays, seen)
    return _OvertakenHold(delays, seen) if overtaken else _QueueHold(delays, seen)


class _DialHold:
    """The first SYN of each dial. Those that are sent again vanish until it has been delivered, then pass."""

    __slots__ = ("_delays", "_seen", "_timers")

    def __init__(self, delays: Delays, seen: Sightings) -> None:
        self._delays = iter(delays)
        self._seen = seen
        self._timers: dict[tuple[Address, Address], KernelTimer | None] = {}

    def matches(self, segment: Segment, at_ns: int | None, *, picked: bool) -> bool:
        dial = segment.src, segment.dst
        if dial in self._timers:
            return self._timers[dial] is not None
        self._seen.add(at_ns)
        return True

    def take(self, segment: Segment, loop: SimLoop, deliver: Deliver) -> None:
        dial = segment.src, segment.dst
        if dial not in self._timers:
            due = loop.now + next(self._delays)
            self._timers[dial] = loop.call_kernel_at(due, self._deliver, segment, deliver)

    def release_all(self, loop: SimLoop) -> None:
        _release([timer for timer in self._timers.values() if timer is not None], loop)

    def _deliver(self, segment: Segment, deliver: Deliver) -> None:
        self._timers[segment.src, segment.dst] = None
        deliver(segment)


class _QueueHold:
    """All packets, which leave in the order in which they came."""

    __slots__ = ("_delays", "_latest", "_seen", "_timers")

    def __init__(self, delays: Delays, seen: Sightings) -> None:
        self._delays = iter(delays)
        self._seen = seen
        self._latest = 0.0
        self._timers: dict[Segment, KernelTimer] = {}

    def matches(self, segment: Segment, at_ns: int | None, *, picked: bool) -> bool:
        self._seen.add(at_ns)
        return True

    def take(self, segment: Segment, loop: SimLoop, deliver: Deliver) -> None:
        self._latest = max(self._latest, loop.now + next(self._delays))
        self._timers[segment] = loop.call_kernel_at(self._latest, self._deliver, segment, deliver)

    def release_all(self, loop: SimLoop) -> None:
        _release(list(self._timers.values()), loop)

    def _deliver(self, segment: Segment, deliver: Deliver) -> None:
        del self._timers[segment]
        deliver(segment)


class _OvertakenHold:
    """The packets that chance picks; the others pass them."""

    __slots__ = ("_delays", "_held", "_seen", "_timers")

    def __init__(self, delays: Delays, seen: Sightings) -> None:
        self._delays = iter(delays)
        self._seen = seen
        self._held: dict[Segment, int | None] = {}
        self._timers: dict[Segment, KernelTimer] = {}

    def matches(self, segment: Segment, at_ns: int | None, *, picked: bool) -> bool:
        if picked:
            self._held[segment] = at_ns
            return True
        for held in [held for held in self._held if (held.src, held.dst) == (segment.src, segment.dst)]:
            self._seen.add(self._held.pop(held))
        return False

    def take(self, segment: Segment, loop: SimLoop, deliver: Deliver) -> None:
        due = loop.now + next(self._delays)
        self._timers[segment] = loop.call_kernel_at(due, self._deliver, segment, deliver)

    def release_all(self, loop: SimLoop) -> None:
        _release(list(self._timers.values()), loop)

    def _deliver(self, segment: Segment, deliver: Deliver) -> None:
        self._held.pop(segment, None)
        del self._timers[segment]
        deliver(segment)


def _release(timers: list[KernelTimer], loop: SimLoop) -> None:
    for timer in timers:
        assert timer.callback is not None, "it has not come to its delivery yet"
        loop.call_kernel_at(loop.now, timer.callback, *timer.args)
        timer.cancel()
