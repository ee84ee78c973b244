"""What a run is held against: its expectations judged, its verdict reached, and where the time of a failed one went."""

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
