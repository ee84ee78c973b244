"""Judges runs: expectations against measures, the verdict, and where the time of a failed operation went."""

from harness.judging.breakdown import Breakdown, BreakdownRow, BreakdownSegment, break_down_time
from harness.judging.judge import Judgement, judge
from harness.judging.measuring import all_measures, measured

__all__ = [
    "Breakdown",
    "BreakdownRow",
    "BreakdownSegment",
    "Judgement",
    "all_measures",
    "break_down_time",
    "judge",
    "measured",
]
