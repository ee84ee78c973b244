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


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """`agrees`: the simulated run took the formula's time. Where it did not, nothing is said of effects, budgets and
    other releases: they would be reckoned with a formula that does not hold. `rescues` are then the settings that
    it does not name and with another value of which it would hold: what it left out."""

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
    related: tuple[Related, ...] = ()
    simulated_runs: int = 0


def explain(cases: Cases, word: str, asked: Asked, simulate: Simulate, *, budget_s: float | None = None) -> Explanation:
    """Explain a fault (or a case by its name) with these settings. Raises Mistaken."""
    situation, answer, related = chosen(cases, word, asked)
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
        related=related,
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


def chosen(cases: Cases, word: str, asked: Asked) -> tuple[Situation, Answer, tuple[Related, ...]]:
    """The best of the cases of which a formula holds, and the others with another formula. Raises Mistaken."""
    holding: list[tuple[Situation, Answer]] = []
    refused: list[Mistaken] = []
    not_so: list[Mistake] = []
    for case in (case for case in cases.ranked() if case in cases.called(word)):
        try:
            situation = situate(case, asked)
        except Mistaken as mistaken:
            refused.append(mistaken)
            continue
        found = answers(situation)
        holding += [(situation, answer) for answer in found]
        if not found:
            not_so.append(_why_none(situation, word))
    if not holding and refused:
        raise refused[0]  # what is wrong with the question shows in the best case; the others only repeat it
    if not holding:
        raise Mistaken(*dict.fromkeys(not_so))
    holding.sort(key=lambda pair: pair[0].case.rank(pair[1].cited.formula, cases.order))
    situation, answer = holding[0]
    others: dict[str, Related] = {}
    for other, its in holding[1:]:
        if its.cited.formula.name != answer.cited.formula.name:
            others.setdefault(its.cited.formula.name, Related(other.case, its))
    return situation, answer, tuple(others.values())


def _why_none(situation: Situation, word: str) -> Mistake:
    """What keeps the formula from holding that comes nearest to it: little is missing, and much is as it asks."""
    whens = [(situation.expectation(cited).when, cited.formula.text) for cited in situation.case.cited]
    missing = [(why_not(when, situation, whole), len(parts(when))) for when, whole in whens if when is not None]
    nearest, _ = min(missing, key=lambda one: (any(VERSION in reason for reason in one[0]), len(one[0]), -one[1]))
    client = f"{situation.plan.client.name} {situation.plan.client.version}"
    if any(VERSION in reason for reason in nearest):
        return Mistake(f"no formula says yet what {word} costs {client}", "name another release")
    return Mistake(f"no formula of {situation.case.name} holds here: it is not so that {' and '.join(nearest)}")


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
