"""Protects that closing one handle ends neither the client's other handles nor the subject."""

from typing import Any

from harness.plan import PlannedOperation
from harness.story import Outcome


def step(operation: str, alias: str, **arguments: Any) -> PlannedOperation:
    return PlannedOperation(operation=operation, alias=alias, arguments=arguments)


def test_a_closed_handle_leaves_the_others(sim: Any) -> None:
    plan = sim.plan(
        step("connect", "c"),
        step("connect", "c2", handle="w2"),
        step("send", "first", handle="w2"),
        step("close", "e2", handle="w2"),
        step("send", "second"),
        step("close", "end"),
    )
    story = sim.run(plan)
    assert [(one.alias, one.outcome) for one in story.operations] == [
        (alias, Outcome.OK) for alias in ("c", "c2", "first", "e2", "second", "end")
    ]
