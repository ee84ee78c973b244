"""Protects what an upgrade is said to cost: the difference of two formulas, setting by setting, and a run of each."""

import pytest

from client.profiles import profile
from harness.explaining import CaseCatalogue, Question, Simulate, configure_case, explain
from harness.explaining.configured_case import prediction_for
from harness.explaining.releases import changes

SHORT = {"Net.ReadTimeout": "2s", "Net.DialTimeout": "1s"}


def test_differences_are_counted_by_setting(sarama: CaseCatalogue) -> None:
    case = sarama.cases_for("blackhole-established")[0]
    found = []
    for retries in ("0", "1"):
        question = Question(version="1.27.2", given={**SHORT, "Producer.Retry.Max": retries})
        prediction = prediction_for(configure_case(case, question), "probe.time_to_error")
        assert prediction is not None
        found.append(prediction)
    more = {change.name: change.count for change in changes(found[0], found[1])}
    assert more == {
        "Net.ReadTimeout": 1, "Producer.Retry.Backoff": 1, "Net.DialTimeout": 4, "Metadata.Retry.Backoff": 3,
    }  # fmt: skip
    assert {c.name: c.count for c in changes(found[1], found[0])} == {name: -count for name, count in more.items()}
    assert changes(found[0], found[0]) == ()


def test_every_other_release_is_told_with_a_run_of_its_own(sarama: CaseCatalogue, simulate: Simulate) -> None:
    found = explain(sarama, "blackhole", Question(version="1.27.2", given=SHORT), simulate)
    others = [version for version in profile("sarama").releases if version != "1.27.2"]
    assert [other.version for other in found.others] == others
    for other in found.others:
        assert other.run is not None
        assert other.run.seconds is not None
        if other.prediction is not None:
            assert other.run.seconds == pytest.approx(other.prediction.seconds, abs=other.prediction.tolerance_s)
            waited = sum(change.count * change.each_s for change in other.changes)
            assert waited == pytest.approx(other.prediction.seconds - found.prediction.seconds)
