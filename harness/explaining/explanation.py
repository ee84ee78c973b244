"""The whole answer to one question: why does this client wait so long under this fault, and what shortens it?"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from harness.expectations import Breakdown
from harness.explaining.budget import Budget, budget
from harness.explaining.cases import Case
from harness.explaining.cases import Library as Cases
from harness.explaining.conditions import VERSION, parts, why_not
from harness.explaining.effects import Effect, effects, rescues
from harness.explaining.releases import OtherRelease, other_releases
from harness.explaining.simulated import Laboratory, Simulate, Simulated, Trial, agree
from harness.explaining.situation import (
    Answer,
    Asked,
    Mistake,
    Mistaken,
    Situation,
    answers,
    situate,
    tolerance_s,
)
from harness.explaining.terms import ExplainedTerm, explained_terms
from harness.language.formulas import Evaluated, evaluate, evaluate_when
from harness.plan import Expectation


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """What somebody's text says of the same time. `holds`: the run agrees with it, within the claim's tolerance."""

    expectation: Expectation
    evaluated: Evaluated
    holds: bool

    @property
    def predicted_s(self) -> float:
        return self.evaluated.number


@dataclass(frozen=True, slots=True)
class Related:
    """Another case of the same fault whose formula holds too."""

    case: Case
    answer: Answer


@dataclass(frozen=True, slots=True)
class PassedOver:
    """A case that would have explained the fault better, but whose formulas do not hold: what is not so."""

    case: Case
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Chosen:
    """What explains the fault best here, what would have explained it better, and what else holds."""

    situation: Situation
    answer: Answer
    passed_over: PassedOver | None
    related: tuple[Related, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """`agrees`: the simulated run took the formula's time. Where it did not, nothing is said of effects, budgets and
    other releases: they would be reckoned with a formula that does not hold. `rescues` are then the settings that
    it does not name and with another value of which it would hold: what it left out. `passed_over` is the best case of
    the fault, where that is not this one: its formulas do not hold with these settings."""

    situation: Situation
    answer: Answer
    terms: tuple[ExplainedTerm, ...]
    run: Simulated
    agrees: bool
    breakdown: Breakdown | None
    rescues: tuple[Trial, ...] = ()
    effects: tuple[Effect, ...] = ()
    levers: tuple[Trial, ...] = ()
    others: tuple[OtherRelease, ...] = ()
    claims: tuple[Claimed, ...] = ()
    budget: Budget | None = None
    passed_over: PassedOver | None = None
    related: tuple[Related, ...] = ()
    simulated_runs: int = 0


def explain(cases: Cases, word: str, asked: Asked, simulate: Simulate, *, budget_s: float | None = None) -> Explanation:
    """Explain a fault (or a case by its name) with these settings. Raises Mistaken."""
    best = chosen(cases, word, asked)
    situation, answer = best.situation, best.answer
    laboratory = Laboratory(simulate)
    measure = answer.cited.measure
    run = laboratory.run(situation, measure)
    found = Explanation(
        situation=situation,
        answer=answer,
        terms=explained_terms(situation, answer),
        run=run,
        agrees=agree(answer, run),
        breakdown=laboratory.breakdown(situation, answer),
        passed_over=best.passed_over,
        related=best.related,
        simulated_runs=laboratory.runs,
    )
    if not found.agrees:
        rescued = tuple(rescues(situation, answer, laboratory))
        return replace(found, rescues=rescued, simulated_runs=laboratory.runs)
    effect = effects(situation, answer, run, laboratory)
    return replace(
        found,
        effects=effect,
        levers=levers(effect, answer),
        others=tuple(other_releases(situation, asked, answer, laboratory)),
        claims=tuple(claims(situation, answer, run)),
        budget=budget(situation, answer, budget_s, laboratory) if budget_s is not None else None,
        simulated_runs=laboratory.runs,
    )


def chosen(cases: Cases, word: str, asked: Asked) -> Chosen:
    """The best of the cases of which a formula holds, and the others with another formula. Raises Mistaken."""
    holding: list[tuple[Situation, Answer]] = []
    refused: list[Mistaken] = []
    not_so: list[tuple[Situation, tuple[str, ...]]] = []
    ranked = [case for case in cases.ranked() if case in cases.called(word)]
    for case in ranked:
        try:
            situation = situate(case, asked)
        except Mistaken as mistaken:
            refused.append(mistaken)
            continue
        found = answers(situation)
        holding += [(situation, answer) for answer in found]
        if not found:
            not_so.append((situation, _nearest(situation)))
    if not holding and refused:
        raise refused[0]  # what is wrong with the question shows in the best case; the others only repeat it
    if not holding:
        raise Mistaken(*dict.fromkeys(_why_none(situation, reasons, word) for situation, reasons in not_so))
    holding.sort(key=lambda pair: pair[0].case.rank(pair[1].cited.formula, cases.order))
    situation, answer = holding[0]
    others: dict[str, Related] = {}
    for other, its in holding[1:]:
        if its.cited.formula.name != answer.cited.formula.name:
            others.setdefault(its.cited.formula.name, Related(other.case, its))
    better = ranked[: ranked.index(situation.case)]
    passed_over = (
        PassedOver(other.case, reasons)
        for other, reasons in not_so
        if other.case in better and not _of_release(reasons)
    )
    return Chosen(situation, answer, next(passed_over, None), tuple(others.values()))


def _nearest(situation: Situation) -> tuple[str, ...]:
    """What keeps the formula from holding that comes nearest to it: little is missing, and much is as it asks."""
    whens = [(situation.expectation(cited).when, cited.formula.text) for cited in situation.case.cited]
    missing = [(why_not(when, situation, whole), len(parts(when))) for when, whole in whens if when is not None]
    return min(missing, key=lambda one: (_of_release(one[0]), len(one[0]), -one[1]))[0]


def _of_release(reasons: tuple[str, ...]) -> bool:
    return any(VERSION in reason for reason in reasons)


def _why_none(situation: Situation, reasons: tuple[str, ...], word: str) -> Mistake:
    client = f"{situation.plan.client.name} {situation.plan.client.version}"
    if _of_release(reasons):
        return Mistake(f"no formula says yet what {word} costs {client}", "name another release")
    return Mistake(f"no formula of {situation.case.name} holds here: it is not so that {' and '.join(reasons)}")


def levers(found: tuple[Effect, ...], answer: Answer) -> tuple[Trial, ...]:
    """Lower values that shorten the time, by the formula and in a run alike; what helps most comes first."""
    shorter = [
        trial
        for effect in found
        for trial in effect.trials[:1]
        if trial.agrees and (trial.predicted_s or 0.0) < answer.seconds
    ]
    return tuple(sorted(shorter, key=lambda trial: trial.predicted_s or 0.0))


def claims(situation: Situation, answer: Answer, run: Simulated) -> Iterator[Claimed]:
    """The claims that the case's scenario carries about the same time, as far as they speak of these settings."""
    plan = situation.plan
    for expectation in plan.expectations:
        if expectation.kind != "claim" or expectation.measure != answer.cited.measure:
            continue
        if expectation.when is not None and not evaluate_when(expectation.when, plan):
            continue
        evaluated = evaluate(expectation.formula, plan)
        assert run.seconds is not None, "a run that agrees with a formula has a time"
        holds = abs(run.seconds - evaluated.number) <= tolerance_s(expectation, evaluated.number)
        yield Claimed(expectation=expectation, evaluated=evaluated, holds=holds)
