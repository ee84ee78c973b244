"""How long a run takes by its formulas, and at most: for progress bars and the suite's order."""

from dataclasses import replace

from harness.cluster_view import ClusterView
from harness.faults.base import FaultModel
from harness.faults.brokers import SelectorError
from harness.formulas.evaluate import Formula, evaluate_condition
from harness.formulas.profiles import profile_of
from harness.formulas.scope import scope_of
from harness.language.schema import ScenarioFile
from harness.measures import parse as parse_measure
from harness.plan import Expectation, PlannedFault, PlannedHealing, PlannedOperation, RunPlan, Statistic, Step

SPARE_S = 30.0
"""Added to all patience: time for a slow machine to start and end a run."""


def with_time_limits(draft: RunPlan, scenario_file: ScenarioFile, default_patience: frozenset[str]) -> RunPlan:
    """The plan with its texts, its times by formula, and its limit.

    An operation without `give_up_after` gets twice what its formulas predict or its limits allow, at least the default.
    """
    plan = replace(draft, scenario=scenario_file.scenario, about=scenario_file.about, tags=tuple(scenario_file.tags))
    predicted, allowed = _longest_s(plan, ("equals",)), _longest_s(plan, ("equals", "at_most", "between"))
    plan = replace(plan, steps=tuple(_patient(step, allowed, default_patience) for step in plan.steps))
    patience = {step.alias: step.give_up_after_s for step in plan.steps if isinstance(step, PlannedOperation)}
    timed = any(isinstance(step, PlannedFault) and step.for_s is not None for step in plan.steps)
    return replace(
        plan,
        predicted_s=_length_s(plan, predicted) if predicted or timed else None,
        expected_s=_length_s(plan, allowed) if allowed or timed else None,
        limit_s=_length_s(plan, patience) + SPARE_S,
    )


def _patient(step: Step, allowed: dict[str, float], default_patience: frozenset[str]) -> Step:
    if not isinstance(step, PlannedOperation) or step.alias not in default_patience:
        return step
    return replace(step, give_up_after_s=max(step.give_up_after_s, 2 * allowed.get(step.alias, 0.0)))


def _longest_s(plan: RunPlan, kinds: tuple[str, ...]) -> dict[str, float]:
    """The longest time in expectations of these kinds for each operation, and for recovery from each fault.

    An equality predicts a time and a limit allows one; claims do neither.
    """
    scope = scope_of(plan, profile_of(plan.client))
    longest: dict[str, float] = {}
    expectations: list[tuple[str, Expectation | Statistic]] = [(one.measure, one) for one in plan.expectations]
    expectations += [(one.of, one) for one in plan.statistics if one.statistic != "share"]
    for measure, expected in expectations:
        name = parse_measure(measure)
        if expected.kind not in kinds or not _is_time(name.measure):
            continue
        if expected.when is None or evaluate_condition(Formula.parse(expected.when), scope):
            text = expected.ends[-1] if isinstance(expected, Expectation) and expected.ends else expected.formula
            seconds = Formula.parse(text).evaluate(scope).number
            longest[name.alias] = max(longest.get(name.alias, 0.0), seconds)
    return longest


def _is_time(measure: str) -> bool:
    return measure.startswith("time_to_") or measure == "recovery"


def _length_s(plan: RunPlan, takes_s: dict[str, float]) -> float:
    """From the first step's start until everything has ended; operations that `takes_s` does not name take no time.

    Of a fault it says how long recovery takes after healing.
    """
    ended: dict[str, float] = {}
    now_s = last_s = 0.0
    view = plan.cluster.view()
    for step in plan.steps:
        start_s = (
            (ended.get(step.when.alias, now_s) if step.when.alias else now_s) + step.when.after_s + step.when.spread_s
        )
        end_s = start_s + (takes_s.get(step.alias, 0.0) if isinstance(step, PlannedOperation) else 0.0)
        if isinstance(step, PlannedFault):
            end_s += _injected_s(step.fault, view)
        if not isinstance(step, PlannedHealing):
            ended[step.alias] = end_s
        healed_s = end_s + _lasts_s(step) if isinstance(step, PlannedFault) else end_s
        recovered_s = healed_s if isinstance(step, PlannedOperation) else healed_s + takes_s.get(step.alias, 0.0)
        last_s = max(last_s, end_s, recovered_s)
        now_s = max(now_s, start_s) if isinstance(step, PlannedOperation) and step.background else max(now_s, end_s)
    return last_s


def _injected_s(fault: FaultModel, view: ClusterView) -> float:
    """From its beginning until its last lever is pulled, which takes as long in any state of the cluster."""
    try:
        return max((stage.after_s for stage in fault.stages(view)), default=0.0)
    except SelectorError:
        return 0.0


def _lasts_s(fault: PlannedFault) -> float:
    """From its confirmation until it heals by itself for the last time."""
    recurring_s = (fault.recurs.times - 1) * fault.recurs.every_s if fault.recurs is not None else 0.0
    return recurring_s + (fault.for_s or 0.0)
