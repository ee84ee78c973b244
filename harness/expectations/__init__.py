"""What a run is held against: its expectations judged, its verdict reached, and where the time of a failed one went."""

from harness.expectations.breakdown import Breakdown, Row, Segment, where_the_time_went
from harness.expectations.judge import Judgement, judge
from harness.expectations.measuring import all_measures, measured

__all__ = ["Breakdown", "Judgement", "Row", "Segment", "all_measures", "judge", "measured", "where_the_time_went"]
