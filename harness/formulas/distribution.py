"""What a call may come to where chance decides: one of several outcomes, each with its chance and a sum of waits.

One number is drawn (how many dark addresses a shuffled list begins with), and a sum holds for a part of its values.
Everything that is said of the whole follows: chances, means, quantiles, and how long until a call gets through.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal

from harness.formulas.evaluate import Evaluated, Formula, evaluate_condition
from harness.formulas.named import PLUS, FormulaTerm
from harness.formulas.scope import Scope
from harness.formulas.syntax import FormulaError
from harness.formulas.values import number

MOST_DRAWN = 1000
WHOLE = 1e-9
"""Chances add up to 1, but for this much."""
EndsAs = Literal["ok", "failed"]


@dataclass(frozen=True, slots=True)
class Draw:
    """A whole number from 0 to `up_to`, called `name` in formulas; `chance` is that of each value."""

    name: str
    up_to: str
    chance: str
    meaning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeFormula:
    """How a call ends for those values of the draw for which `condition` holds (None: for all that are left).

    `again` is the mean time from the beginning of this try to that of the next, None where nothing tries again;
    `lasting` says when every later call ends in the same way.
    """

    ends: EndsAs
    terms: tuple[FormulaTerm, ...]
    condition: str | None = None
    again: str | None = None
    lasting: str | None = None
    error: str | None = None

    @property
    def text(self) -> str:
        return PLUS.join(term.text for term in self.terms)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedDistribution:
    """`scenario` makes it happen, and `measure` is the time that it is of."""

    name: str
    about: str
    condition: str | None
    draw: Draw
    outcomes: tuple[OutcomeFormula, ...]
    scenario: str
    measure: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictedOutcome:
    """One way in which a call may end, with its chance. `again_s` and `lasting` are of what follows a failure."""

    chance: float
    formula: OutcomeFormula
    evaluated: Evaluated
    again_s: float | None
    lasting: bool

    @property
    def ends(self) -> EndsAs:
        return self.formula.ends

    @property
    def seconds(self) -> float:
        return self.evaluated.number


@dataclass(frozen=True, slots=True)
class PredictedDistribution:
    """The outcomes that have a chance, the shortest first."""

    outcomes: tuple[PredictedOutcome, ...]

    @property
    def failing(self) -> float:
        """The chance that a call fails."""
        return sum(one.chance for one in self.outcomes if one.ends == "failed")

    @property
    def lasting(self) -> float:
        """The chance that it fails, and every later one with it."""
        return sum(one.chance for one in self.outcomes if one.lasting)

    @property
    def mean_s(self) -> float:
        """How long a call takes on average, however it ends."""
        return sum(one.chance * one.seconds for one in self.outcomes)

    def quantile_s(self, q: float) -> float:
        """The shortest of its times within which this share of the calls has ended."""
        reached = 0.0
        for one in self.outcomes:
            reached += one.chance
            if reached >= q - WHOLE:
                return one.seconds
        return self.outcomes[-1].seconds

    @property
    def recovery_s(self) -> float | None:
        """The mean time from the first call until one gets through, for a caller who calls again; every try draws anew.

        Of those for whom failing does not last; None where no call gets through, or nothing tries again.
        """
        passing = [one for one in self.outcomes if one.ends == "ok"]
        failing = [one for one in self.outcomes if one.ends == "failed" and not one.lasting]
        through, lost = (sum(one.chance for one in part) for part in (passing, failing))
        if not passing or any(one.again_s is None for one in failing):
            return None
        mean_s = sum(one.chance * one.seconds for one in passing) / through
        # So many tries fail before one gets through: a geometric distribution.
        return mean_s + sum(one.chance * (one.again_s or 0.0) for one in failing) / through if lost else mean_s


def predict(distribution: NamedDistribution, scope: Scope) -> PredictedDistribution:
    """Raises FormulaError, also where chances do not add up to 1 or no outcome holds for a value of the draw."""
    draw = distribution.draw
    most = Formula.parse(draw.up_to).evaluate(scope).number
    if not 0 <= most <= MOST_DRAWN:
        raise FormulaError("formula", f"{draw.name} is drawn from 0 to {most:g}", f"at most {MOST_DRAWN}")
    found: list[PredictedOutcome] = []
    for value in range(int(most) + 1):
        drawn = replace(scope, other_names={**scope.other_names, draw.name: number(value)}, known={})
        chance = Formula.parse(draw.chance).evaluate(drawn).number
        if chance > 0:
            found.append(_outcome(distribution, chance, value, drawn))
    all_of_them = sum(one.chance for one in found)
    if abs(all_of_them - 1) > WHOLE:
        raise FormulaError("formula", f"the chances of {draw.name} add up to {all_of_them:g}, not to 1")
    return PredictedDistribution(tuple(_merged(found)))


def _outcome(distribution: NamedDistribution, chance: float, value: int, scope: Scope) -> PredictedOutcome:
    for formula in distribution.outcomes:
        if formula.condition is None or evaluate_condition(Formula.parse(formula.condition), scope):
            return PredictedOutcome(
                chance=chance,
                formula=formula,
                evaluated=Formula.parse(formula.text).evaluate(scope),
                again_s=None if formula.again is None else Formula.parse(formula.again).evaluate(scope).number,
                lasting=formula.lasting is not None and evaluate_condition(Formula.parse(formula.lasting), scope),
            )
    raise FormulaError("formula", f"no outcome holds where {distribution.draw.name} is {value}")


def _merged(found: Sequence[PredictedOutcome]) -> Iterator[PredictedOutcome]:
    """What comes to the same is one outcome."""

    def alike(one: PredictedOutcome) -> tuple[float, str, bool]:
        return round(one.seconds, 9), one.ends, one.lasting

    for _, group in groupby(sorted(found, key=alike), key=alike):
        first, *others = group
        yield replace(first, chance=first.chance + sum(other.chance for other in others))
