"""Protects figures on the terminal: a tolerance is told as it is, on both sides."""

import pytest

from cli.show.formatting import tolerance
from harness.records.run import ExpectationResult


@pytest.mark.parametrize(
    ("unit", "low", "high", "told"),
    [
        ("s", 3.91, 4.09, " ± 0.090"),
        ("s", 3.895, 4.175, " - 0.105 + 0.175"),
        ("s", 4.0, 4.175, " - 0.000 + 0.175"),
        ("count", 4.0, 4.0, ""),
        ("count", 3.0, 5.0, " ± 1"),
        ("count", 4.0, 5.0, " - 0 + 1"),
    ],
)
def test_a_tolerance_is_told_on_both_sides(unit: str, low: float, high: float, told: str) -> None:
    judged = ExpectationResult.model_validate(
        {
            "measure": "probe.time_to_error", "kind": "equals", "formula": "4", "unit": unit, "outcome": "held",
            "predicted": 4.0, "low": low, "high": high,
        }
    )  # fmt: skip
    assert tolerance(judged) == told
