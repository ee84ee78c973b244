"""Protects the answer to "fail within 3 s": least change, values that people write, and every way tried in a run."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.explaining import CaseCatalogue, Explanation, Question, Simulate, explain
from harness.explaining.budget import lambert_w, least_change
from harness.explaining.setting_values import FARTHEST, lower_counts, rounded_down

RELEASE = "1.27.2"
totals = st.lists(st.floats(0.01, 200.0), min_size=1, max_size=4)


def ask(sarama: CaseCatalogue, simulate: Simulate, word: str, budget_s: float, **given_: str) -> Explanation:
    texts = {name.replace("_", "."): text for name, text in given_.items()}
    return explain(sarama, word, Question(version=RELEASE, given=texts), simulate, budget_s=budget_s)


def cost(factors: tuple[float, ...]) -> float:
    return sum(math.log(factor) ** 2 for factor in factors)


@given(st.floats(0.0, 1e6))
def test_lambert_w(x: float) -> None:
    w = lambert_w(x)
    assert w * math.exp(w) == pytest.approx(x, rel=1e-9, abs=1e-12)


@given(totals, st.floats(0.05, 0.95), st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_no_other_factors_change_less(terms: list[float], share: float, random: object) -> None:
    room = share * sum(terms)
    best = least_change(tuple(terms), room)
    assert sum(t * f for t, f in zip(terms, best, strict=True)) == pytest.approx(room, rel=1e-6)
    assert all(0 < factor <= 1 for factor in best)
    for _ in range(30):
        other = [f * random.uniform(0.8, 1.25) for f in best]  # type: ignore[attr-defined]
        scale = room / sum(t * f for t, f in zip(terms, other, strict=True))
        assert cost(tuple(f * scale for f in other)) >= cost(best) * (1 - 1e-6)


def test_what_is_short_enough_stays() -> None:
    assert least_change((1.0, 2.0), 3.0) == (1.0, 1.0)


@given(st.floats(1e-3, 1e5))
def test_rounded_down_is_two_digits_and_never_more(value: float) -> None:
    found = rounded_down(value)
    assert found <= value * (1 + 1e-9)
    assert found > value * 0.89
    assert len(f"{found:.12g}".replace(".", "").strip("0")) <= 2


@given(st.integers(0, 2**31))
def test_lower_counts_are_few_and_reach_from_the_value_to_nothing(value: int) -> None:
    found = lower_counts(value)
    assert len(found) <= 2 * FARTHEST
    assert list(found) == sorted(set(found), reverse=True)
    assert (found[:1], found[-1:]) == (((value - 1,), (0,)) if value else ((), ()))


@pytest.mark.parametrize("limit_s", [7.0, 3.0, 0.5])
@pytest.mark.parametrize("defaults", [False, True])
def test_every_way_keeps_within_the_budget_in_a_run(
    sarama: CaseCatalogue, simulate: Simulate, limit_s: float, defaults: bool
) -> None:
    short = {} if defaults else {"Net_ReadTimeout": "2s", "Net_DialTimeout": "1s"}
    found = ask(sarama, simulate, "blackhole", limit_s, **short)
    budget = found.budget
    assert budget is not None
    assert not budget.met
    assert budget.failed == ()
    assert budget.solutions
    for trial in budget.solutions:
        assert trial.agrees
        assert trial.run.seconds is not None
        assert trial.run.seconds <= limit_s
        for name, value in trial.changes:
            assert value < (found.configured_case.settings[name].value or 0)


def test_the_articles_need_fail_within_three_seconds(sarama: CaseCatalogue, simulate: Simulate) -> None:
    found = ask(sarama, simulate, "blackhole", 3.0, Net_ReadTimeout="3s", Net_DialTimeout="30s", Producer_Retry_Max="1")
    assert found.budget is not None
    first, *others = found.budget.solutions
    assert [name for name, _ in first.changes] == ["Net.DialTimeout", "Net.ReadTimeout"]
    assert any(dict(way.changes).get("Producer.Retry.Max") == 0 for way in others), "or give up retrying"


def test_a_budget_leaves_room_for_what_a_run_takes_beyond_its_formula(
    sarama: CaseCatalogue, simulate: Simulate
) -> None:
    found = ask(sarama, simulate, "bootstrap-refused", 0.74)
    assert found.budget is not None
    assert found.budget.target_s == pytest.approx((0.74 - 0.05) / 1.01)
    assert all((way.predicted_s or 9) <= found.budget.target_s + 1e-9 for way in found.budget.solutions)


def test_a_budget_that_is_met_changes_nothing(sarama: CaseCatalogue, simulate: Simulate) -> None:
    found = ask(sarama, simulate, "bootstrap-refused", 2.0)
    assert found.budget is not None
    assert found.budget.met
    assert found.budget.solutions == ()


def test_a_budget_that_cannot_be_met_has_no_way(sarama: CaseCatalogue, simulate: Simulate) -> None:
    found = ask(sarama, simulate, "blackhole", 0.04)
    assert found.budget is not None
    assert (found.budget.met, found.budget.solutions) == (False, ())
    found = ask(sarama, simulate, "latency", 0.1)
    assert found.budget is not None
    assert found.budget.solutions == (), "no setting of the client shortens a round trip"
