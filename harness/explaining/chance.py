"""The whole answer where chance decides: what a call may come to and how likely, by formula and over many seeds."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from harness.explaining.assumptions import Assumption, assume
from harness.explaining.budget import lost_syn_fails
from harness.explaining.cases import ChanceCase
from harness.explaining.chance_question import assumed_for, configure_chance, holds, missing
from harness.explaining.configured_case import (
    ConfiguredCase,
    InvalidQuestion,
    Mistake,
    Question,
    settings_in,
)
from harness.explaining.healthy_path import HealthyPath
from harness.explaining.search import Search
from harness.explaining.seeds import ABSOLUTE_S, RELATIVE, Sample, sample
from harness.explaining.simulated import Simulate
from harness.formulas.distribution import NamedDistribution, PredictedDistribution, predict
from harness.formulas.profiles import profile_of
from harness.formulas.scope import scope_of
from harness.formulas.syntax import FormulaError
from harness.plan import RunPlan
from harness.story import Story

SEEDS = 200
OTHER_SEEDS = 40
"""Of other releases and other settings, which are only compared."""
QUANTILE = 0.99
MOST_TRIED, MOST_SHOWN = 4, 3
WORTH_S = 0.01
"""A change that saves less is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnCase:
    """Some settings, the distribution with them, and how many runs say."""

    configured_case: ConfiguredCase
    changes: Mapping[str, str]
    predicted: PredictedDistribution
    sample: Sample
    lost_syn_fails: tuple[str, ...] = ()

    @property
    def agrees(self) -> bool:
        return self.sample.agrees_with(self.predicted)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChanceBudget:
    """`quantile` of the calls are to end within `limit_s`. `options`: fewest changes first, then those that fail least.
    `shortest_s` is the least that can be reached where every time-out is what a healthy path needs."""

    limit_s: float
    quantile: float
    healthy: HealthyPath
    met: bool
    options: tuple[DrawnCase, ...] = ()
    failed: tuple[DrawnCase, ...] = ()
    shortest_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChanceExplanation:
    """`others` are the client's other releases, `levers` settings that make failing less likely or calls shorter,
    where no budget says what to look for. `assumed`: settings that the question does not have and without which the
    distribution does not hold."""

    distribution: NamedDistribution
    drawn: DrawnCase
    assumed: tuple[Assumption, ...] = ()
    others: tuple[DrawnCase, ...] = ()
    levers: tuple[DrawnCase, ...] = ()
    budget: ChanceBudget | None = None
    simulated_runs: int = 0

    @property
    def agrees(self) -> bool:
        return self.drawn.agrees


def explain_chance(
    case: ChanceCase, question: Question, simulate: Simulate, *, seeds: int = SEEDS, budget_s: float | None = None,
    quantile: float = QUANTILE, healthy: HealthyPath | None = None,
) -> ChanceExplanation:  # fmt: skip
    """Explain it with these settings and addresses. Raises InvalidQuestion."""
    return _Chance(case, question, simulate, seeds, healthy or HealthyPath()).explained(budget_s, quantile)


class _Chance:
    def __init__(
        self, case: ChanceCase, question: Question, simulate: Simulate, seeds: int, healthy: HealthyPath
    ) -> None:
        self._assumed = assumed_for(case, question)
        self._case, self._question, self._seeds, self._healthy = case, assume(question, self._assumed), seeds, healthy
        self._runs = 0

        def counted(plan: RunPlan) -> Story:
            self._runs += 1
            return simulate(plan)

        self._simulate = counted

    def explained(self, budget_s: float | None, quantile: float) -> ChanceExplanation:
        configured = configure_chance(self._case, self._question)
        drawn = self._drawn(configured, {}, self._seeds, carry_on=True)
        found = ChanceExplanation(
            distribution=self._case.distribution, drawn=drawn, assumed=self._assumed, simulated_runs=self._runs
        )
        if not drawn.agrees:
            return found
        found = replace(
            found,
            others=tuple(self._others()),
            levers=tuple(self._levers(drawn)) if budget_s is None else (),
            budget=None if budget_s is None else self._budget(drawn, budget_s, quantile),
        )
        return replace(found, simulated_runs=self._runs)

    def _predicted(self, configured: ConfiguredCase) -> PredictedDistribution | None:
        plan = configured.plan
        if missing(self._case, configured):
            return None
        try:
            return predict(self._case.distribution, scope_of(plan, profile_of(plan.client)))
        except FormulaError:
            return None

    def _drawn(
        self, configured: ConfiguredCase, changes: Mapping[str, str], seeds: int, *, carry_on: bool
    ) -> DrawnCase:
        predicted = self._predicted(configured)
        if predicted is None:
            raise InvalidQuestion(Mistake(f"what is known of {self._case.case.name} does not hold here"))
        tried = sample(
            configured, self._case.distribution.measure, predicted, self._simulate, seeds=seeds, carry_on=carry_on
        )
        return DrawnCase(
            configured_case=configured,
            changes=changes,
            predicted=predicted,
            sample=tried,
            lost_syn_fails=lost_syn_fails(configured, self._healthy),
        )

    def _others(self) -> Iterator[DrawnCase]:
        """The client's other releases, oldest first; those that do not have these settings are left out."""
        for version in configure_chance(self._case, self._question).profile.releases:
            other = replace(self._question, version=version)
            if version != self._question.version and holds(self._case, other):
                configured = configure_chance(self._case, other)
                yield self._drawn(configured, {}, min(OTHER_SEEDS, self._seeds), carry_on=False)

    def _with(self, base: ConfiguredCase, changes: Mapping[str, float]) -> DrawnCase | None:
        changed = base.with_settings(changes)
        if changed is None or self._predicted(changed) is None:
            return None
        texts = {name: changed.settings[name].text for name in changes}
        return self._drawn(changed, texts, min(OTHER_SEEDS, self._seeds), carry_on=False)

    def _durations(self, configured: ConfiguredCase) -> tuple[str, ...]:
        """Settings in the distribution's sums and conditions that are durations."""
        formulas = self._case.distribution.outcomes
        texts = [text for one in formulas for text in (one.text, one.condition or "")]
        named = dict.fromkeys(name for text in texts for name in settings_in(text, configured.plan))
        return tuple(name for name in named if configured.settings[name].unit == "s")

    def _levers(self, drawn: DrawnCase) -> Iterator[DrawnCase]:
        """Each duration halved and doubled, where that makes failing less likely, or calls shorter and failing no
        likelier."""
        before = drawn.predicted
        better: list[tuple[float, float, dict[str, float]]] = []
        for name in self._durations(drawn.configured_case):
            for factor in (0.5, 2.0):
                changes = {name: (drawn.configured_case.settings[name].value or 0.0) * factor}
                changed = drawn.configured_case.with_values(changes)
                after = None if changed is None else self._predicted(changed)
                if after is None or after.failing > before.failing + 1e-9:
                    continue
                if after.failing < before.failing - 1e-9 or after.mean_s < before.mean_s - WORTH_S:
                    better.append((after.failing, after.mean_s, changes))
        for _, _, changes in sorted(better, key=lambda one: one[:2])[:MOST_SHOWN]:
            tried = self._with(drawn.configured_case, changes)
            if tried is not None and tried.agrees:
                yield tried

    def _budget(self, drawn: DrawnCase, limit_s: float, quantile: float) -> ChanceBudget:
        target_s = (limit_s - ABSOLUTE_S) / (1 + RELATIVE)
        if drawn.predicted.quantile_s(quantile) <= target_s:
            return ChanceBudget(limit_s=limit_s, quantile=quantile, healthy=self._healthy, met=True)

        def seconds(changed: ConfiguredCase) -> float | None:
            found = self._predicted(changed)
            return None if found is None else found.quantile_s(quantile)

        search = Search(drawn.configured_case, seconds, self._healthy, self._durations(drawn.configured_case), ())
        options: list[DrawnCase] = []
        failed: list[DrawnCase] = []
        candidates = search.candidates(target_s)[:MOST_TRIED]
        for candidate in candidates:
            tried = self._with(drawn.configured_case, candidate.changes)
            if tried is None:
                continue
            kept = tried.agrees and tried.sample.quantile_s(quantile) <= limit_s
            (options if kept else failed).append(tried)
        safest = drawn.predicted.failing
        options.sort(key=lambda one: (one.predicted.failing > safest + 1e-9, len(one.changes), one.predicted.failing))
        return ChanceBudget(
            limit_s=limit_s,
            quantile=quantile,
            healthy=self._healthy,
            met=False,
            options=tuple(options[:MOST_SHOWN]),
            failed=tuple(failed),
            shortest_s=search.shortest_s(),
        )
