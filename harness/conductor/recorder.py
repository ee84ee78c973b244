"""Collects the events of a run, numbered per source, with times since the run's origin."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import count

from harness.environments.world import World
from harness.story import DelaySample, Event, Value

_new = tuple.__new__
"""Makes a NamedTuple without the Python function in between, which takes longer."""


class Recorder:
    """`origin_ns` is the absolute clock value that all times become relative to."""

    def __init__(self, origin_ns: int) -> None:
        self.origin_ns = origin_ns
        self._events: list[Event] = []
        self._numbers: defaultdict[str, Iterator[int]] = defaultdict(count)
        self._delays: list[DelaySample] = []

    def since_origin(self, at_ns: int) -> int:
        return at_ns - self.origin_ns

    def record_event(self, source: str, at_ns: int, kind: str, fields: Mapping[str, Value]) -> None:
        """Record an event at an absolute clock value. Fields that are None are left out."""
        if None in fields.values():
            fields = {name: value for name, value in fields.items() if value is not None}
        name = kind if type(kind) is str else str(kind)
        number = next(self._numbers[source])
        self._events.append(_new(Event, (at_ns - self.origin_ns, source, number, name, fields)))

    def sample_delays(self, world: World) -> None:
        """Note how late the world's processes are by now: wherever a wait that may be judged begins or ends."""
        delayed_s = world.delays()
        if delayed_s:
            self._delays.append(DelaySample(self.since_origin(world.now_ns()), delayed_s))

    def delays(self) -> tuple[DelaySample, ...]:
        """All samples so far."""
        return tuple(self._delays)

    def events(self) -> tuple[Event, ...]:
        """All so far, by time, source and number."""
        return tuple(sorted(self._events))
