"""The whole answer to one question: why does this client wait so long under this fault, and what shortens it?"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from harness.explaining.assumptions import Assumption, assume, configure_assuming, failing_reasons, of_release
from harness.explaining.budget import Budget, budget
from harness.explaining.cases import CaseCatalogue as Cases
from harness.explaining.cases import ExplainableCase
from harness.explaining.configured_case import (
    ConfiguredCase,
    InvalidQuestion,
    Mistake,
    Prediction,
    Question,
    predictions,
    tolerance_s,
)
from harness.explaining.effects import Effect, effects, would_hold_with
from harness.explaining.healing import HealingSweep, moments, sweep
from harness.explaining.healthy_path import HealthyPath
from harness.explaining.releases import OtherRelease, other_releases
from harness.explaining.simulated import Simulate, SimulatedRun, Simulator, Trial, agree
from harness.explaining.terms import ExplainedTerm, explained_terms
from harness.formulas.evaluate import Evaluated, condition_holds, evaluate
from harness.judging import Breakdown
from harness.plan import Expectation


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedClaim:
    """A claim about the same time. `holds`: the run agrees with it, within the claim's tolerance."""

    expectation: Expectation
    evaluated: Evaluated
    holds: bool

    @property
    def predicted_s(self) -> float:
        return self.evaluated.number


@dataclass(frozen=True, slots=True)
class RelatedCase:
    """Another case of the same fault whose formula holds too."""

    case: ExplainableCase
    prediction: Prediction


@dataclass(frozen=True, slots=True)
class InapplicableCase:
    """A case that would have explained the fault better, but whose formulas do not hold: what is not so."""

    case: ExplainableCase
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Selection:
    """What explains the fault best here, the settings that this assumes, what would have explained it better, and what
    else holds."""

    configured_case: ConfiguredCase
    prediction: Prediction
    assumed: tuple[Assumption, ...]
    inapplicable: InapplicableCase | None
    related: tuple[RelatedCase, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """`agrees`: the simulated run took the formula's time. Where it did not, there are no effects, budgets and
    other releases: the formula does not hold. `would_hold_with` are then settings that the formula does not name, and
    with another value of which it would hold. `inapplicable` is the best case of the fault where that is not this one:
    its formulas do not hold with these settings. `healing`: what becomes of the call where its fault heals; None for a
    call that does not fail, and for a fault that never heals. `assumed`: settings that the question does not have
    and without which no formula of this case holds."""

    configured_case: ConfiguredCase
    prediction: Prediction
    terms: tuple[ExplainedTerm, ...]
    run: SimulatedRun
    agrees: bool
    assumed: tuple[Assumption, ...]
    breakdown: Breakdown | None
    would_hold_with: tuple[Trial, ...] = ()
    effects: tuple[Effect, ...] = ()
    reductions: tuple[Trial, ...] = ()
    others: tuple[OtherRelease, ...] = ()
    claims: tuple[CheckedClaim, ...] = ()
    budget: Budget | None = None
    healing: HealingSweep | None = None
    inapplicable: InapplicableCase | None = None
    related: tuple[RelatedCase, ...] = ()
    simulated_runs: int = 0


def explain(
    cases: Cases, fault_or_case: str, question: Question, simulate: Simulate, *, budget_s: float | None = None,
    healthy: HealthyPath | None = None,
) -> Explanation:  # fmt: skip
    """Explain a fault (or a case by its name) with these settings. Raises InvalidQuestion."""
    best = select_case(cases, fault_or_case, question)
    configured_case, prediction = best.configured_case, best.prediction
    question = assume(question, best.assumed)
    simulator = Simulator(simulate)
    measure = prediction.cited.measure
    run = simulator.run(configured_case, measure)
    found = Explanation(
        configured_case=configured_case,
        prediction=prediction,
        terms=explained_terms(configured_case, prediction),
        run=run,
        agrees=agree(prediction, run),
        assumed=best.assumed,
        breakdown=simulator.breakdown(configured_case, prediction),
        inapplicable=best.inapplicable,
        related=best.related,
        simulated_runs=simulator.runs,
    )
    if not found.agrees:
        rescued = tuple(would_hold_with(configured_case, prediction, simulator))
        return replace(found, would_hold_with=rescued, simulated_runs=simulator.runs)
    effect = effects(configured_case, prediction, run, simulator)
    fails = measure.endswith(".time_to_error")
    healing = sweep(configured_case, measure, moments(prediction.seconds), simulate) if fails else None
    return replace(
        found,
        effects=effect,
        reductions=reductions(effect, prediction),
        others=tuple(other_releases(configured_case, question, prediction, simulator)),
        claims=tuple(claims(configured_case, prediction, run)),
        budget=None
        if budget_s is None
        else budget(configured_case, prediction, budget_s, healthy or HealthyPath(), healing, simulator, simulate),
        healing=healing,
        simulated_runs=simulator.runs,
    )


def select_case(cases: Cases, fault_or_case: str, question: Question) -> Selection:
    """The best of the cases of which a formula holds, and the others with another formula. Raises InvalidQuestion."""
    holding: list[tuple[ConfiguredCase, Prediction]] = []
    refused: list[InvalidQuestion] = []
    not_so: list[tuple[ConfiguredCase, tuple[str, ...]]] = []
    assumed: dict[str, tuple[Assumption, ...]] = {}
    ranked = [case for case in cases.ranked() if case in cases.cases_for(fault_or_case)]
    for case in ranked:
        try:
            assuming = configure_assuming(case, question)
        except InvalidQuestion as mistaken:
            refused.append(mistaken)
            continue
        configured_case = assuming.configured_case
        assumed[case.name] = assuming.assumed
        found = predictions(configured_case)
        holding += [(configured_case, prediction) for prediction in found]
        if not found:
            not_so.append((configured_case, failing_reasons(configured_case)))
    if not holding and refused:
        raise refused[0]  # what is wrong with the question shows in the best case; the others only repeat it
    if not holding:
        raise InvalidQuestion(
            *dict.fromkeys(_why_none(configured_case, reasons, fault_or_case) for configured_case, reasons in not_so)
        )
    holding.sort(key=lambda pair: pair[0].case.rank(pair[1].cited.formula, cases.order))
    configured_case, prediction = holding[0]
    own = assumed[configured_case.case.name]
    others: dict[str, RelatedCase] = {}
    for other, its in holding[1:]:
        if its.cited.formula.name != prediction.cited.formula.name and set(assumed[other.case.name]) <= set(own):
            others.setdefault(its.cited.formula.name, RelatedCase(other.case, its))
    better = ranked[: ranked.index(configured_case.case)]
    inapplicable = (
        InapplicableCase(other.case, reasons)
        for other, reasons in not_so
        if other.case in better and not of_release(reasons)
    )
    return Selection(
        configured_case,
        prediction,
        assumed[configured_case.case.name],
        next(inapplicable, None),
        tuple(others.values()),
    )


def _why_none(configured_case: ConfiguredCase, reasons: tuple[str, ...], fault_or_case: str) -> Mistake:
    client = f"{configured_case.plan.client.name} {configured_case.plan.client.version}"
    if of_release(reasons):
        return Mistake(f"no formula says yet what {fault_or_case} costs {client}", "name another release")
    return Mistake(f"no formula of {configured_case.case.name} holds here: it is not so that {' and '.join(reasons)}")


def reductions(found: tuple[Effect, ...], prediction: Prediction) -> tuple[Trial, ...]:
    """Lower values that shorten the time, by the formula and in a run alike; what helps most comes first."""
    shorter = [
        trial
        for effect in found
        for trial in effect.trials[:1]
        if trial.agrees and (trial.predicted_s or 0.0) < prediction.seconds
    ]
    return tuple(sorted(shorter, key=lambda trial: trial.predicted_s or 0.0))


def claims(configured_case: ConfiguredCase, prediction: Prediction, run: SimulatedRun) -> Iterator[CheckedClaim]:
    """The claims of the case's scenario about the same time that apply to these settings."""
    plan = configured_case.plan
    for expectation in plan.expectations:
        if expectation.kind != "claim" or expectation.measure != prediction.cited.measure:
            continue
        if expectation.when is not None and not condition_holds(expectation.when, plan):
            continue
        evaluated = evaluate(expectation.formula, plan)
        assert run.seconds is not None, "a run that agrees with a formula has a time"
        holds = abs(run.seconds - evaluated.number) <= tolerance_s(expectation, evaluated.number)
        yield CheckedClaim(expectation=expectation, evaluated=evaluated, holds=holds)
