"""Protects what is said of a message whose send failed, and of when calls get through: each was seen in a run."""

import pytest

from harness.explaining import CaseCatalogue, Explanation, HealingSweep, Question, Simulate, explain
from harness.explaining.healing import moments

RELEASE = "1.27.2"
SHORT = {"Net.ReadTimeout": "2s", "Net.DialTimeout": "1s"}


def healing(sarama: CaseCatalogue, simulate: Simulate, word: str, **given: str) -> tuple[Explanation, HealingSweep]:
    texts = SHORT | {name.replace("_", "."): text for name, text in given.items()}
    found = explain(sarama, word, Question(version=RELEASE, given=texts), simulate)
    assert found.healing is not None
    return found, found.healing


def test_a_fault_is_tried_at_lengths_on_both_sides_of_the_error() -> None:
    found = moments(10.0)
    assert found == tuple(sorted(found))
    assert found[0] < 1 < 10 < found[-1]


def test_what_heals_in_time_is_no_error_and_what_does_not_may_be_written_all_the_same(
    sarama: CaseCatalogue, simulate: Simulate
) -> None:
    found, swept = healing(sarama, simulate, "blackhole-established", Producer_Retry_Max="0")
    assert found.prediction.seconds == pytest.approx(2.0)
    assert 0 < swept.rides_out_s < 2.0
    assert swept.written_though_failed, "the kernel delivers the request of a closed connection"
    assert swept.doubled == ()
    assert swept.recoveries_s
    assert not swept.never_recovers


def test_a_client_that_sends_again_may_write_twice(sarama: CaseCatalogue, simulate: Simulate) -> None:
    _, once = healing(sarama, simulate, "blackhole-established", Producer_Retry_Max="0")
    _, again = healing(sarama, simulate, "blackhole-established", Producer_Retry_Max="3")
    assert again.rides_out_s > once.rides_out_s
    assert [run.copies for run in again.runs if run.copies > 1], "the first request arrives, and its retry"


def test_a_client_under_construction_has_no_message(sarama: CaseCatalogue, simulate: Simulate) -> None:
    _, swept = healing(sarama, simulate, "bootstrap-blackhole")
    assert not swept.delivers
    assert swept.rides_out_s > 0
    assert swept.recoveries_s


def test_a_call_that_gets_through_in_the_end_has_no_such_rows(sarama: CaseCatalogue, simulate: Simulate) -> None:
    found = explain(sarama, "latency", Question(version=RELEASE, given={}), simulate)
    assert found.healing is None
