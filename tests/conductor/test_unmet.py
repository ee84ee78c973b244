"""Protects `expect:` on a step: what follows a step that went otherwise does not mean what the scenario says."""

import pytest

from harness.conductor.step_outcome import unmet
from harness.drivers import OperationResult
from harness.plan import PlannedOperation
from harness.story import Outcome


@pytest.mark.parametrize(
    ("expect", "outcome", "text"),
    [
        (None, Outcome.FAILED, None),
        ("acknowledged", Outcome.OK, None),
        ("ok", Outcome.OK, None),
        ("failed", Outcome.FAILED, None),
        (
            "acknowledged",
            Outcome.FAILED,
            "`w` was expected to be acknowledged, but failed after 2.000 s: out of brokers",
        ),
        ("failed", Outcome.OK, "`w` was expected to be failed, but succeeded after 2.000 s"),
        ("ok", Outcome.CENSORED, "`w` was expected to be ok, but had not ended after 2.000 s"),
    ],
)
def test_unmet(expect: str | None, outcome: Outcome, text: str | None) -> None:
    error = "out of brokers" if outcome is Outcome.FAILED else None
    answer = OperationResult(started_ns=5, ended_ns=2_000_000_005, outcome=outcome, stamped="subject", error=error)
    assert unmet(PlannedOperation(operation="send", alias="w", expect=expect), answer) == text  # type: ignore[arg-type]
