"""Protects what an upgrade is said to cost: the difference of two formulas, setting by setting, and a run of each."""

import pytest

from client.profiles import profile
from harness.explaining import Asked, Library, Simulate, explain, situate
from harness.explaining.releases import changes
from harness.explaining.situation import answer_of

SHORT = {"Net.ReadTimeout": "2s", "Net.DialTimeout": "1s"}


def test_differences_are_counted_by_setting(sarama: Library) -> None:
    case = sarama.called("blackhole-established")[0]
    found = []
    for retries in ("0", "1"):
        asked = Asked(version="1.27.2", given={**SHORT, "Producer.Retry.Max": retries})
        answer = answer_of(situate(case, asked), "probe.time_to_error")
        assert answer is not None
        found.append(answer)
    more = {change.name: change.count for change in changes(found[0], found[1])}
    assert more == {
        "Net.ReadTimeout": 1, "Producer.Retry.Backoff": 1, "Net.DialTimeout": 4, "Metadata.Retry.Backoff": 3,
    }  # fmt: skip
    assert {c.name: c.count for c in changes(found[1], found[0])} == {name: -count for name, count in more.items()}
    assert changes(found[0], found[0]) == ()


def test_every_other_release_is_told_with_a_run_of_its_own(sarama: Library, simulate: Simulate) -> None:
    found = explain(sarama, "blackhole", Asked(version="1.27.2", given=SHORT), simulate)
    others = [version for version in profile("sarama").releases if version != "1.27.2"]
    assert [other.version for other in found.others] == others
    for other in found.others:
        assert other.run is not None
        assert other.run.seconds is not None
        if other.answer is not None:
            assert other.run.seconds == pytest.approx(other.answer.seconds, abs=other.answer.tolerance_s)
            waited = sum(change.count * change.each_s for change in other.changes)
            assert waited == pytest.approx(other.answer.seconds - found.answer.seconds)
