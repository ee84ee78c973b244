"""Which settings keep the time within a budget, what each way costs, and whether there is a safe one at all.

Each way is tried in a simulated run, or in many where chance decides; what it costs is simulated too: how long a fault
may last before it becomes an error, and what a connection that is reset in mid-request does.
"""

from dataclasses import dataclass

from harness.explaining.configured_case import ConfiguredCase, Prediction, conditions, prediction_for, settings_in
from harness.explaining.healing import HealingSweep, moments, survives_reset, sweep
from harness.explaining.healthy_path import HealthyPath
from harness.explaining.search import Search
from harness.explaining.simulated import Simulate, Simulator, Trial

MOST_TRIED, MOST_SHOWN = 4, 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What a client pays with some settings. `healing` is None for a fault that does not heal, `survives_reset` for a
    client that has no connection yet. `lost_syn_fails` names limits of dials that one lost SYN exceeds."""

    healing: HealingSweep | None
    survives_reset: bool | None
    lost_syn_fails: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One way. `margin`: each changed time-out is at least so many times what a healthy path needs; inf: none is
    changed."""

    trial: Trial
    margin: float
    price: Price


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """`target_s` is `limit_s` less what a run may take beyond its formula. `options`: fewest changes first, then the
    safest; `failed` are those whose run did not keep within the limit. `shortest_s` is the least that can be reached
    where every time-out is what a healthy path needs; None where no formula says."""

    limit_s: float
    target_s: float
    healthy: HealthyPath
    met: bool
    now: Price | None = None
    options: tuple[Option, ...] = ()
    failed: tuple[Trial, ...] = ()
    shortest_s: float | None = None


def budget(
    configured_case: ConfiguredCase, prediction: Prediction, limit_s: float, healthy: HealthyPath,
    healing: HealingSweep | None, simulator: Simulator, simulate: Simulate,
) -> Budget:  # fmt: skip
    """The best ways that were found, each tried. `healing` is of the settings as they are: None, and none is looked for
    with others."""
    measure = prediction.cited.measure
    relative, absolute_s = prediction.expectation.within_relative, prediction.expectation.within_absolute
    target_s = (limit_s - absolute_s) / (1 + relative)
    if prediction.seconds <= target_s:
        return Budget(limit_s=limit_s, target_s=target_s, healthy=healthy, met=True)

    def seconds(changed: ConfiguredCase) -> float | None:
        found = prediction_for(changed, measure)
        return None if found is None else found.seconds

    texts = [prediction.cited.formula.text, *conditions(configured_case, measure)]
    search = Search(configured_case, seconds, healthy, *adjustable(configured_case, prediction, texts))
    options: list[Option] = []
    failed: list[Trial] = []
    for candidate in search.candidates(target_s)[:MOST_TRIED]:
        trial = simulator.try_changes(configured_case, measure, dict(candidate.changes))
        changed = configured_case.with_settings(candidate.changes)
        if trial is None or changed is None:
            continue
        if trial.agrees and trial.run.seconds is not None and trial.run.seconds <= limit_s:
            swept = None if healing is None else sweep(changed, measure, moments(trial.run.seconds), simulate)
            price = price_of(changed, measure, swept, healthy, simulate)
            options.append(Option(trial=trial, margin=candidate.margin, price=price))
        else:
            failed.append(trial)
    now = price_of(configured_case, measure, healing, healthy, simulate)
    options.sort(key=lambda option: (len(option.trial.changes), *risk(option, now)))
    return Budget(
        limit_s=limit_s,
        target_s=target_s,
        healthy=healthy,
        met=False,
        now=now,
        options=tuple(options[:MOST_SHOWN]),
        failed=tuple(failed),
        shortest_s=search.shortest_s(),
    )


def adjustable(
    configured_case: ConfiguredCase, prediction: Prediction, texts: list[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Durations of the formula, those that cost most first, and counts of it and of its conditions."""
    plan = configured_case.plan
    costly = sorted((t for t in prediction.evaluated.terms if t.setting and t.total > 0), key=lambda t: -t.total)
    named = dict.fromkeys(name for text in texts for name in settings_in(text, plan))
    of_formula = settings_in(prediction.cited.formula.text, plan)
    units = {named.name: named.unit for named in plan.settings}
    durations = dict.fromkeys([*(str(t.setting) for t in costly), *(n for n in of_formula if units[n] == "s")])
    return tuple(durations), tuple(name for name in named if units[name] == "count")


def price_of(
    configured_case: ConfiguredCase, measure: str, healing: HealingSweep | None, healthy: HealthyPath,
    simulate: Simulate,
) -> Price:  # fmt: skip
    """By a simulated run of these settings, and by the kernel's time for a SYN that is lost."""
    return Price(
        healing=healing,
        survives_reset=survives_reset(configured_case, measure, simulate),
        lost_syn_fails=lost_syn_fails(configured_case, healthy),
    )


def lost_syn_fails(configured_case: ConfiguredCase, healthy: HealthyPath) -> tuple[str, ...]:
    """Limits of dials that are too short for a SYN that is sent again."""
    version = configured_case.plan.client.version
    return tuple(
        setting.name
        for setting in configured_case.profile.settings.for_release(version)
        if "dial" in setting.limits
        and (configured_case.settings[setting.name].value or 0.0) > 0
        and not healthy.survives_lost_syn(configured_case.settings[setting.name].value or 0.0)
    )


def risk(option: Option, now: Price) -> tuple[int, float]:
    """What is lost beside what is there now, and how narrow the margin is: less is safer."""
    lost = int(bool(now.survives_reset) and not option.price.survives_reset)
    lost += int(bool(set(option.price.lost_syn_fails) - set(now.lost_syn_fails)))
    return lost, -option.margin
