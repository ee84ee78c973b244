"""Protects what the simulation takes on trust: a bundled client's trace has the types that a spelt-out line is held to.

On local each line is read and checked; simulated, nothing is spelt out, so nothing is checked while it runs.
"""

import pytest

from client.events import TraceKind
from harness.conductor import conduct
from harness.drivers.protocol import plain_trace
from harness.environments.sim.environment import SimEnvironment
from harness.language import load, plans
from harness.plan import RunPlan
from harness.suite.collection import bundled

KINDS = frozenset(kind.value for kind in TraceKind)


def first_plans() -> list[RunPlan]:
    return [plans(load(path), environment="sim", seed=1, repeat=1)[0] for path in bundled()]


@pytest.mark.parametrize("plan", first_plans(), ids=lambda plan: plan.scenario)
def test_every_event_is_what_a_line_may_say(plan: RunPlan) -> None:
    story = SimEnvironment(conduct).run(plan, lambda _: None, None)
    traced = [one for one in story.events if one.source == "subject" and one.kind in KINDS]
    assert traced
    for one in traced:
        said = {"ev": "trace", "at_ns": one.at_ns, "kind": one.kind, **one.fields}
        assert plain_trace(dict(said)) == (one.at_ns, one.kind, one.fields), said
