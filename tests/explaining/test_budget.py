"""Protects the answer to "fail within 3 s": nothing below what a healthy path needs, fewest changes first, each tried,
and a plain no where there is no safe way.
"""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.explaining import Budget, CaseCatalogue, Explanation, HealthyPath, Question, Simulate, explain
from harness.explaining.setting_values import FARTHEST, ROUND_NUMBERS, lower_counts, rounded_down

RELEASE = "1.27.2"
QUICK = HealthyPath(round_trip_s=0.001, broker_s=0.01, pause_s=0.02)


def ask(
    sarama: CaseCatalogue, simulate: Simulate, word: str, budget_s: float, healthy: HealthyPath | None = None,
    **given_: str,
) -> Explanation:  # fmt: skip
    texts = {name.replace("_", "."): text for name, text in given_.items()}
    question = Question(version=RELEASE, given=texts)
    return explain(sarama, word, question, simulate, budget_s=budget_s, healthy=healthy)


def budget_of(found: Explanation) -> Budget:
    assert found.budget is not None
    return found.budget


@given(st.floats(1e-3, 1e5), st.floats(1e-3, 1e5))
def test_proposed_values_are_round_and_neither_longer_nor_too_short(value: float, least: float) -> None:
    found = rounded_down(value, least=min(value, least))
    assert found >= min(value, least) * (1 - 1e-9)
    if found <= value * (1 + 1e-9):
        assert found > value * 0.79
    else:
        assert found <= min(value, least) * 1.11, "only where the least itself is not round"
    assert len(f"{found:.12g}".replace(".", "").strip("0")) <= 2


def test_round_numbers_have_no_gap() -> None:
    assert all(a < b < 1.3 * a for a, b in pairwise(ROUND_NUMBERS))


@given(st.integers(0, 2**31))
def test_lower_counts_are_few_and_reach_from_the_value_to_nothing(value: int) -> None:
    found = lower_counts(value)
    assert len(found) <= 2 * FARTHEST
    assert list(found) == sorted(set(found), reverse=True)
    assert (found[:1], found[-1:]) == (((value - 1,), (0,)) if value else ((), ()))


@pytest.mark.parametrize(("limit_s", "healthy"), [(20.0, HealthyPath()), (3.0, QUICK)])
def test_every_way_keeps_within_the_budget_in_a_run_and_above_what_a_healthy_path_needs(
    sarama: CaseCatalogue, simulate: Simulate, limit_s: float, healthy: HealthyPath
) -> None:
    found = ask(sarama, simulate, "blackhole", limit_s, healthy)
    budget = budget_of(found)
    assert not budget.met
    assert budget.failed == ()
    assert budget.options
    table = found.configured_case.profile.settings
    for option in budget.options:
        trial = option.trial
        assert trial.agrees
        assert trial.run.seconds is not None
        assert trial.run.seconds <= limit_s
        for name, value in trial.changes:
            assert value < (found.configured_case.settings[name].value or 0)
            assert value >= healthy.least_s(table.find(name, RELEASE).limits)
        assert option.margin >= 1
    numbers = [len(option.trial.changes) for option in budget.options]
    assert numbers == sorted(numbers), "fewest changes first"
    names = [{name for name, _ in option.trial.changes} for option in budget.options]
    assert not any(a < b for a in names for b in names), "none changes more than another needs to"


def test_the_articles_need_fail_within_three_seconds(sarama: CaseCatalogue, simulate: Simulate) -> None:
    found = ask(sarama, simulate, "blackhole", 3.0, Net_ReadTimeout="3s", Producer_Retry_Max="1")
    first = budget_of(found).options[0]
    assert dict(first.trial.changes).keys() == {"Producer.Retry.Max", "Net.ReadTimeout"}
    assert budget_of(found).now is not None
    assert (budget_of(found).now.survives_reset, first.price.survives_reset) == (True, False), "what giving up costs"  # type: ignore[union-attr]
    assert not any(
        name == "Net.DialTimeout" and value < 0.5
        for option in budget_of(found).options
        for name, value in option.trial.changes
    )


def test_of_two_ways_with_as_many_changes_the_one_that_loses_less_comes_first(
    sarama: CaseCatalogue, simulate: Simulate
) -> None:
    """Shorter time-outs for both, or one of them and no retry: without a retry a reset becomes an error."""
    options = budget_of(ask(sarama, simulate, "blackhole", 20.0)).options
    survives = [option.price.survives_reset for option in options if len(option.trial.changes) == 2]
    assert survives == sorted(survives, reverse=True)
    assert True in survives


def test_a_dial_that_a_lost_syn_fails_is_named(sarama: CaseCatalogue, simulate: Simulate) -> None:
    found = ask(sarama, simulate, "bootstrap-blackhole", 3.5)
    (first, *_) = budget_of(found).options
    assert dict(first.trial.changes).keys() == {"Net.DialTimeout"}
    assert first.price.lost_syn_fails == ("Net.DialTimeout",)
    assert budget_of(found).now.lost_syn_fails == ()  # type: ignore[union-attr]


def test_a_budget_leaves_room_for_what_a_run_takes_beyond_its_formula(
    sarama: CaseCatalogue, simulate: Simulate
) -> None:
    budget = budget_of(ask(sarama, simulate, "bootstrap-refused", 0.74))
    assert budget.target_s == pytest.approx((0.74 - 0.05) / 1.01)
    assert budget.options
    assert all((one.trial.predicted_s or 9) <= budget.target_s + 1e-9 for one in budget.options)


def test_a_budget_that_is_met_changes_nothing(sarama: CaseCatalogue, simulate: Simulate) -> None:
    budget = budget_of(ask(sarama, simulate, "bootstrap-refused", 2.0))
    assert budget.met
    assert budget.options == ()


def test_a_budget_that_cannot_be_met_safely_has_no_way_and_says_how_short_it_gets(
    sarama: CaseCatalogue, simulate: Simulate
) -> None:
    short = {"Net_ReadTimeout": "2s", "Net_DialTimeout": "1s", "Producer_Retry_Max": "1"}
    budget = budget_of(ask(sarama, simulate, "blackhole", 0.5, **short))
    assert (budget.met, budget.options) == (False, ())
    assert budget.shortest_s is not None
    assert budget.shortest_s >= HealthyPath().least_s(("answer",))
    assert budget_of(ask(sarama, simulate, "blackhole", 0.5, QUICK, **short)).options, "on a quicker path there is one"
    none = budget_of(ask(sarama, simulate, "latency", 0.1))
    assert none.options == (), "no setting of the client shortens a round trip"


def test_what_a_healthy_path_needs() -> None:
    path = HealthyPath(round_trip_s=0.1, broker_s=0.2, pause_s=0.4)
    assert path.least_s(("dial",)) == pytest.approx(0.5)
    assert path.least_s(("answer",)) == pytest.approx(0.7)
    assert path.least_s(("dial", "answer")) == pytest.approx(0.8)
    assert path.least_s(()) == 0
    assert not path.survives_lost_syn(1.05)
    assert path.survives_lost_syn(1.2)
