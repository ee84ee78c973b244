"""Protects what is said where chance decides: chances that add up, and simulated runs that agree with them."""

from collections.abc import Callable
from dataclasses import replace
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.explaining import (
    CaseCatalogue,
    ChanceExplanation,
    HealthyPath,
    InvalidQuestion,
    Question,
    Simulate,
    decided_by_chance,
    explain_chance,
)
from harness.formulas.chance import mean_of_longer_s, shuffled_before

pytestmark = pytest.mark.ci

SEEDS = 24


def ask(
    catalogue: CaseCatalogue, simulate: Simulate, version: str, bootstrap: int | None = None, *,
    seeds: int = SEEDS, budget_s: float | None = None, **given_: str,
) -> ChanceExplanation:  # fmt: skip
    (case,) = catalogue.chance_cases_for("bootstrap")
    texts = {name.replace("_", "."): text for name, text in given_.items()}
    question = Question(version=version, given=texts, bootstrap=bootstrap)
    return explain_chance(case, question, simulate, seeds=seeds, budget_s=budget_s)


@pytest.mark.parametrize(("dead", "live"), [(0, 1), (1, 1), (2, 2), (3, 1), (2, 3), (3, 0)])
def test_how_many_dead_come_first_is_what_all_orders_say(dead: int, live: int) -> None:
    orders = list(permutations("d" * dead + "l" * live))
    for met in range(dead + 1):
        there = sum(order.index("l") == met if live else met == dead for order in orders)
        assert shuffled_before(met, dead, live) == pytest.approx(there / len(orders))


def test_no_list_has_such_numbers() -> None:
    for numbers in ((-1, 2, 2), (0, 1.5, 2)):
        with pytest.raises(ValueError, match="is no number of addresses"):
            shuffled_before(*numbers)


@given(st.floats(0.0, 100.0), st.floats(0.001, 100.0))
@settings(max_examples=50)
def test_the_mean_of_the_longer_of_two(least_s: float, up_to_s: float) -> None:
    slices = 2000
    drawn = [(number + 0.5) / slices * up_to_s for number in range(slices)]
    assert mean_of_longer_s(least_s, up_to_s) == pytest.approx(
        sum(max(least_s, one) for one in drawn) / slices, rel=1e-3
    )


def test_the_scale_down_that_never_heals(kafka_go: CaseCatalogue, simulate: Simulate) -> None:
    """B1, B3: two of four addresses are dead; each sixth client fails, and in v0.4.8 for ever."""
    found = ask(kafka_go, simulate, "0.4.8", 4, dead="2", seeds=120)
    assert found.agrees
    told = [(one.ends, one.seconds, pytest.approx(one.chance)) for one in found.drawn.predicted.outcomes]
    assert told == [("ok", 1.0, 1 / 2), ("ok", 4.0, 1 / 3), ("failed", 5.0, 1 / 6)]
    assert found.drawn.predicted.lasting == pytest.approx(1 / 6)
    assert found.drawn.sample.stuck == min(len(found.drawn.sample.failed), 30) > 0
    assert found.drawn.sample.recoveries_s == ()


def test_from_the_next_release_on_a_later_walk_gets_through(kafka_go: CaseCatalogue, simulate: Simulate) -> None:
    """B2, B4: the mean time until a call gets through is the geometric sum over walks."""
    found = ask(kafka_go, simulate, "0.4.9", 4, dead="2", seeds=150)
    assert found.agrees
    assert found.drawn.predicted.lasting == 0
    assert found.drawn.sample.stuck == 0
    cycle_s = (5**2 + 6**2) / 12
    expected_s = 1 / 5 * cycle_s + (3 / 5 * 1.0 + 2 / 5 * 4.0)
    assert found.drawn.predicted.recovery_s == pytest.approx(expected_s)
    spread_s = 3.0  # of one client's time; the mean of 150 is within four times a twelfth of that
    assert found.drawn.sample.recovery_s == pytest.approx(expected_s, abs=4 * spread_s / 150**0.5)
    assert [other.configured_case.plan.client.version for other in found.others] == ["0.4.8", "0.4.50"]


@pytest.mark.parametrize(("bootstrap", "dead"), [(1, 1), (2, 1), (3, 3), (6, 1), (8, 7), (5, 0)])
def test_other_lists(kafka_go: CaseCatalogue, simulate: Simulate, bootstrap: int, dead: int) -> None:
    found = ask(kafka_go, simulate, "0.4.50", bootstrap, dead=str(dead), seeds=24)
    assert found.agrees, found.drawn.sample.unexplained[:1]
    assert sum(one.chance for one in found.drawn.predicted.outcomes) == pytest.approx(1)
    if dead == bootstrap:
        assert found.drawn.predicted.failing == 1
        assert found.drawn.predicted.recovery_s is None


def test_the_same_for_another_client(sarama: CaseCatalogue, simulate: Simulate) -> None:
    for version in ("1.27.2", "1.60.1"):
        found = ask(sarama, simulate, version, 4, dead="2", refused="1")
        assert found.agrees, found.drawn.sample.unexplained[:1]
        assert found.drawn.predicted.failing == 0
        assert found.drawn.predicted.mean_s == pytest.approx(2 / 2 * 30.0)
    none = ask(sarama, simulate, "1.27.2", 2, dead="2")
    assert none.agrees
    assert none.drawn.predicted.failing == 1


def test_a_distribution_that_is_wrong_is_found_out(
    changed_kafka_go: Callable[[str, str], CaseCatalogue], simulate: Simulate
) -> None:
    wrong_time = changed_kafka_go('term: Transport.DialTimeout, meaning: "dials', 'term: 2s, meaning: "dials')
    found = ask(wrong_time, simulate, "0.4.8", 4, dead="2")
    assert not found.agrees
    assert found.drawn.sample.unexplained
    assert (found.levers, found.others, found.budget) == ((), (), None)


def test_chances_that_are_wrong_are_found_out(
    changed_kafka_go: Callable[[str, str], CaseCatalogue], simulate: Simulate
) -> None:
    wrong_chance = changed_kafka_go(
        "client.bootstrap.count - client.bootstrap.dark - client.bootstrap.refused)\n      meaning",
        "1)\n      meaning",
    )
    found = ask(wrong_chance, simulate, "0.4.8", 6, dead="1", seeds=120)
    assert not found.agrees
    assert not found.drawn.sample.unexplained


@pytest.mark.parametrize(
    ("given_", "message", "hint"),
    [
        ({"dead": "9"}, "dead=9: there are only 4 bootstrap addresses", "--bootstrap 9"),
        ({"dead": "2", "refused": "3"}, "dead=2 and refused=3: there are only 4", "--bootstrap 5"),
        ({"dead": "-1"}, "dead is a number of addresses, not `-1`", "--set dead=2"),
        ({"dead": "two"}, "dead is a number of addresses, not `two`", "--set dead=2"),
        ({"dead": "2", "Writer.Async": "true"}, "it is not so that not Writer.Async", ""),
    ],
)
def test_a_mistake_is_named(
    kafka_go: CaseCatalogue, simulate: Simulate, given_: dict[str, str], message: str, hint: str
) -> None:
    with pytest.raises(InvalidQuestion) as caught:
        ask(kafka_go, simulate, "0.4.8", 4, **given_)
    (mistake,) = caught.value.mistakes
    assert message in mistake.message
    assert hint in mistake.hint


def test_a_budget_where_chance_decides_is_on_a_quantile_and_prefers_what_fails_less(
    kafka_go: CaseCatalogue, simulate: Simulate
) -> None:
    found = ask(kafka_go, simulate, "0.4.8", 4, dead="2", budget_s=4.0)
    budget = found.budget
    assert budget is not None
    assert not budget.met
    assert budget.options
    first = budget.options[0]
    assert first.changes.keys() == {"NetDialer.Timeout"}
    assert first.predicted.failing == 0, "shorter dials leave time for a live address"
    for option in budget.options:
        assert option.predicted.quantile_s(budget.quantile) <= 4.0
        assert option.sample.quantile_s(budget.quantile) <= 4.0
    worse = [option for option in budget.options if option.predicted.failing > found.drawn.predicted.failing]
    assert list(budget.options[len(budget.options) - len(worse) :]) == worse, "what fails more comes last"


def test_no_proposal_is_shorter_than_a_healthy_path_needs(kafka_go: CaseCatalogue, simulate: Simulate) -> None:
    found = ask(kafka_go, simulate, "0.4.8", 4, dead="2", budget_s=2.5)
    assert found.budget is not None
    least_s = HealthyPath().least_s(("dial",))
    for option in found.budget.options:
        value = option.configured_case.settings["NetDialer.Timeout"].value
        assert value is not None
        assert value >= least_s
    hopeless = ask(kafka_go, simulate, "0.4.8", 4, dead="2", budget_s=0.3)
    assert hopeless.budget is not None
    assert hopeless.budget.options == ()
    assert (hopeless.budget.shortest_s or 0) > 0.3


def test_the_same_question_has_the_same_answer(kafka_go: CaseCatalogue, simulate: Simulate) -> None:
    first, second = (ask(kafka_go, simulate, "0.4.9", 3, dead="1", seeds=30) for _ in range(2))
    assert first.drawn.sample == second.drawn.sample


@pytest.mark.parametrize("version", ["0.4.8", "0.4.9", "0.4.50"])
@pytest.mark.parametrize("fault", ["no_leader", "unknown_topic"])
def test_what_a_writer_has_not_heard_of_yet(
    kafka_go: CaseCatalogue, simulate: Simulate, version: str, fault: str
) -> None:
    """By default it hears of it some time within 6 s; where it does not, a formula says so."""
    default = Question(version=version, given={})
    case = decided_by_chance(kafka_go, fault, default)
    assert case is not None
    found = explain_chance(case, default, simulate, seeds=100)
    assert found.agrees, found.drawn.sample.counts
    assert found.drawn.predicted.failing == pytest.approx(1)
    deaf = replace(default, given={"Transport.MetadataTTL": "1h"})
    assert decided_by_chance(kafka_go, fault, deaf) is None
