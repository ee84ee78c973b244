"""Protects what the simulation takes on trust: a bundled client's trace has the types that a spelt-out line is held to.

On local each line is read and checked; simulated, nothing is spelt out, so nothing is checked while it runs.
"""

from pathlib import Path

import pytest

from client.events import TraceKind
from harness.conductor import conduct
from harness.drivers.protocol import plain_trace
from harness.environments.sim.environment import SimEnvironment
from harness.language import load, plans
from harness.suite.collection import bundled

KINDS = frozenset(kind.value for kind in TraceKind)


@pytest.mark.parametrize("path", bundled(), ids=lambda path: path.name.partition(".")[0])
def test_every_event_is_what_a_line_may_say(path: Path) -> None:
    plan = plans(load(path), environment="sim", seed=1, repeat=1)[0]
    story = SimEnvironment(conduct).run(plan, lambda _: None, None)
    traced = [one for one in story.events if one.source == "subject" and one.kind in KINDS]
    assert traced
    for one in traced:
        said = {"ev": "trace", "at_ns": one.at_ns, "kind": one.kind, **one.fields}
        assert plain_trace(dict(said)) == (one.at_ns, one.kind, one.fields), said
