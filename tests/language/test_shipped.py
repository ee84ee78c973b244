"""Protects the bundled scenarios: they predict what the real client is known to do, and the suite stays short."""

import pytest
from bundled_scenarios import FOLDER, bundled_scenarios

from harness.language import Scenario, condition_holds, evaluate, load_formulas, plans
from harness.measures import MEASURES, parse
from harness.operations import OPERATIONS
from harness.plan import PlannedOperation, RunPlan

LANES = 16
START_S = 1.0


def cell(scenario: Scenario, **wanted: str) -> RunPlan:
    found = [c for c in scenario.cells if wanted.items() <= {p.name: p.text for p in c.parameters}.items()]
    assert len(found) == 1, wanted
    return found[0]


def established(retry_max: int, brokers: int, bootstrap: str) -> RunPlan:
    wanted = {
        "settings.Producer.Retry.Max": str(retry_max),
        "cluster.brokers": str(brokers),
        "client.bootstrap": bootstrap,
    }
    return cell(bundled_scenarios()["sarama-blackhole-established"], **wanted)


def predicted(plan: RunPlan, measure: str) -> float:
    """By an equality; where there is none, by the claims that hold."""
    said = [e for e in plan.expectations if e.measure == measure and (e.when is None or condition_holds(e.when, plan))]
    true = [e for e in said if e.kind == "equals"] or [e for e in said if e.kind == "claim" and e.holds]
    values = {round(evaluate(e.formula, plan).number, 9) for e in true}
    assert len(values) == 1, "exactly one formula holds"
    return values.pop()


@pytest.mark.parametrize(
    ("retry_max", "brokers", "bootstrap", "seconds", "dials"),
    [
        (0, 1, "[1]", 2.0, 0), (1, 1, "[1]", 8.85, 4), (3, 1, "[1]", 8.85, 4),
        (0, 3, "[1]", 2.0, 0), (1, 3, "[1]", 10.85, 6), (3, 3, "[1]", 10.85, 6),
        (0, 3, "[1, 2, 3]", 2.0, 0), (1, 3, "[1, 2, 3]", 18.85, 14), (3, 3, "[1, 2, 3]", 18.85, 14),
    ],
)  # fmt: skip
def test_established_blackhole_predicts_what_real_sarama_was_measured_to_do(
    retry_max: int, brokers: int, bootstrap: str, seconds: float, dials: int
) -> None:
    plan = established(retry_max, brokers, bootstrap)
    assert predicted(plan, "probe.time_to_error") == seconds
    assert predicted(plan, "probe.dials") == dials
    assert plan.expected_s == pytest.approx(seconds)


def test_the_articles_numbers() -> None:
    scenario = bundled_scenarios()["sarama-blackhole-article"]
    assert "slow" in scenario.tags
    assert predicted(cell(scenario, **{"settings.Producer.Retry.Max": "1"}), "probe.time_to_error") == 126.85
    assert predicted(cell(scenario, **{"settings.Producer.Retry.Max": "0"}), "probe.time_to_error") == 3.0


@pytest.mark.parametrize(("seconds", "index"), [(4.75, 0), (4.35, 1)])
def test_bootstrap(seconds: float, index: int) -> None:
    assert predicted(bundled_scenarios()["sarama-bootstrap-blackhole"].cells[index], "probe.time_to_error") == seconds
    assert predicted(bundled_scenarios()["sarama-bootstrap-refused"].cells[index], "probe.time_to_error") == 0.75


def test_claims_are_declared_as_they_turned_out_and_say_whose_they_are() -> None:
    plan = established(1, 1, "[1]")
    claims = {
        e.name[:2]: e
        for c in bundled_scenarios()["sarama-blackhole-established"].cells
        for e in c.expectations
        if e.kind == "claim"
    }
    assert {name: claim.holds for name, claim in claims.items()} == {"a1": False, "a2": False, "a3": False, "a6": True}
    assert all("2020-11-18" in claim.source for claim in claims.values())
    assert evaluate(claims["a1"].formula, plan).number == 7.0
    assert evaluate(claims["a3"].formula, plan).number == 6.0


def test_refuted_claims_are_far_enough_from_the_truth_to_be_told_apart() -> None:
    for scenario in bundled_scenarios().values():
        for plan in scenario.cells:
            refuted = (e for e in plan.expectations if e.kind == "claim" and e.holds is False)
            for claim in (e for e in refuted if MEASURES[parse(e.measure).measure].unit != "text"):
                if claim.when is None or condition_holds(claim.when, plan):
                    said, truth = evaluate(claim.formula, plan).number, predicted(plan, claim.measure)
                    assert abs(said - truth) > 2 * (claim.within_absolute + claim.within_relative * truth), claim


def test_every_named_formula_is_cited_and_every_cell_is_judged() -> None:
    formulas = load_formulas(FOLDER / "sarama" / "formulas.yaml")
    cited = {e.name for s in bundled_scenarios().values() for c in s.cells for e in (*c.expectations, *c.statistics)}
    assert set(formulas) <= cited
    for scenario in bundled_scenarios().values():
        for plan in scenario.cells:
            expected = (*plan.expectations, *plan.statistics)
            judged = [e for e in expected if e.kind != "claim" or e.holds is not None]
            judged = [e for e in judged if not e.when or condition_holds(e.when, plan)]
            assert judged, f"{scenario.name} {plan.parameters} expects nothing"


@pytest.mark.parametrize("operation", sorted(OPERATIONS))
def test_every_operation_occurs_in_a_scenario_of_the_quick_suite(operation: str) -> None:
    """What is not slow runs in both worlds."""
    quick = (scenario for scenario in bundled_scenarios().values() if "slow" not in scenario.tags)
    done = {step.operation for s in quick for step in s.cells[0].steps if isinstance(step, PlannedOperation)}
    assert operation in done


def test_predictions_for_the_release_that_refreshes_first() -> None:
    """As measured on real builds of 1.60.1 at R = 2 s, D = 1 s: 8.755, 13.610, 15.613, 31.619 s."""
    newer, seeds = (bundled_scenarios()[f"sarama-blackhole-established-1.60.1{end}"] for end in ("", "-three-seeds"))
    wanted = [("0", "1"), ("1", "1"), ("1", "3")]
    plans_ = [cell(newer, **{"settings.Producer.Retry.Max": m, "cluster.brokers": n}) for m, n in wanted]
    found = [predicted(plan, "probe.time_to_error") for plan in (*plans_, *seeds.cells)]
    assert found == pytest.approx([8.75, 13.6, 15.6, 31.6])
    assert [predicted(plan, "probe.dials") for plan in (*plans_, *seeds.cells)] == [4, 8, 10, 26]


def test_the_suite_on_real_sockets_stays_short() -> None:
    runs = [
        plan
        for scenario in bundled_scenarios().values()
        if "slow" not in scenario.tags
        for plan in plans(scenario, environment="local", seed=7)
    ]
    times = [(plan.expected_s or 0.0) + START_S for plan in runs]
    assert max(times) < 20
    assert sum(times) / LANES < 88, "`make run` is to take under 90 s"
