"""`faultlab explain --json`: everything that the terminal shows, for programs."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from math import isinf
from typing import Any

from cli.show.explain_list import default_seconds
from client.profiles import profiles
from harness.explaining import (
    BOOTSTRAP,
    CaseCatalogue,
    ChanceExplanation,
    DrawnCase,
    ExplainedTerm,
    Explanation,
    HealingSweep,
    Measurement,
    OtherRelease,
    Price,
    SimulatedRun,
    Trial,
)

FORMAT = 1


def explanation_document(found: Explanation, measured: Sequence[Measurement]) -> dict[str, Any]:
    """One JSON document; times in seconds."""
    configured_case, formula = found.configured_case, found.prediction.cited.formula
    plan = configured_case.plan
    budget = found.budget
    return {
        "format": FORMAT,
        "client": plan.client.name,
        "version": plan.client.version,
        "faults": list(configured_case.case.faults),
        "case": configured_case.case.name,
        "scenario": configured_case.case.scenario,
        "brokers": plan.cluster.brokers,
        "bootstrap": len(plan.client.bootstrap),
        "settings": {name: named.text for name, named in configured_case.settings.items()},
        "assumed": {one.name: one.text for one in found.assumed},
        "given": list(plan.given_settings),
        "formula": formula.name,
        "about": formula.about,
        "text": formula.text,
        "measure": found.prediction.cited.measure,
        "holds_when": found.prediction.expectation.when,
        "source": formula.source,
        "predicted_s": found.prediction.seconds,
        "terms": [_term(term) for term in found.terms],
        "simulated": _run(found.run),
        "agrees": found.agrees,
        "would_hold_with": [_trial(trial) for trial in found.would_hold_with],
        "measured": [asdict(one) for one in measured],
        "waits": [asdict(segment) for segment in found.breakdown.segments] if found.breakdown else None,
        "no_effect": [effect.setting for effect in found.effects if effect.none],
        "otherwise": [_trial(trial) for effect in found.effects for trial in effect.turning_points],
        "beyond_formula": [_trial(trial) for effect in found.effects for trial in effect.beyond_formula],
        "levers": [_trial(trial) for trial in found.reductions],
        "other_releases": [_other(other) for other in found.others],
        "claims": [
            {
                "formula": claimed.expectation.formula,
                "predicted_s": claimed.predicted_s,
                "holds": claimed.holds,
                "source": claimed.expectation.source,
            }
            for claimed in found.claims
        ],
        "budget": None
        if budget is None
        else {
            "limit_s": budget.limit_s,
            "met": budget.met,
            "healthy_path": asdict(budget.healthy),
            "ways": [
                {**_trial(option.trial), "margin": _finite(option.margin), "price": _price(option.price)}
                for option in budget.options
            ],
            "price_now": None if budget.now is None else _price(budget.now),
            "failed": [_trial(trial) for trial in budget.failed],
            "shortest_safe_s": budget.shortest_s,
        },
        "healed": _healing(found.healing),
        "not_here": None
        if found.inapplicable is None
        else {"case": found.inapplicable.case.name, "reasons": list(found.inapplicable.reasons)},
        "see_also": [
            {"case": one.case.name, "formula": one.prediction.cited.formula.name, "predicted_s": one.prediction.seconds}
            for one in found.related
        ],
        "simulated_runs": found.simulated_runs,
    }


def chance_document(found: ChanceExplanation) -> dict[str, Any]:
    """The same where chance decides."""
    plan, budget = found.drawn.configured_case.plan, found.budget
    return {
        "format": FORMAT,
        "client": plan.client.name,
        "version": plan.client.version,
        "faults": list(found.drawn.configured_case.case.faults),
        "case": found.drawn.configured_case.case.name,
        "scenario": found.drawn.configured_case.case.scenario,
        "brokers": plan.cluster.brokers,
        "bootstrap": len(plan.client.bootstrap),
        "dead": len(plan.client.blackholed),
        "refused": len(plan.client.refused),
        "settings": {name: named.text for name, named in found.drawn.configured_case.settings.items()},
        "assumed": {one.name: one.text for one in found.assumed},
        "given": list(plan.given_settings),
        "distribution": found.distribution.name,
        "about": found.distribution.about,
        "measure": found.distribution.measure,
        "source": found.distribution.source,
        "agrees": found.agrees,
        **_drawn(found.drawn),
        "other_releases": [
            {"version": other.configured_case.plan.client.version, **_drawn(other)} for other in found.others
        ],
        "levers": [_drawn(lever) for lever in found.levers],
        "budget": None
        if budget is None
        else {
            "limit_s": budget.limit_s,
            "quantile": budget.quantile,
            "met": budget.met,
            "healthy_path": asdict(budget.healthy),
            "ways": [
                {**_drawn(option), "quantile_s": option.predicted.quantile_s(budget.quantile)}
                for option in budget.options
            ],
            "failed": [_drawn(option) for option in budget.failed],
            "shortest_safe_s": budget.shortest_s,
        },
        "simulated_runs": found.simulated_runs,
    }


def _drawn(drawn: DrawnCase) -> dict[str, Any]:
    predicted, sample = drawn.predicted, drawn.sample
    return {
        "changes": dict(drawn.changes),
        "outcomes": [
            {
                "ends": one.ends,
                "lasting": one.lasting,
                "seconds": one.seconds,
                "chance": one.chance,
                "terms": [{"setting": term.setting, "total_s": term.total} for term in one.evaluated.terms],
                "seen": count,
            }
            for one, count in zip(predicted.outcomes, sample.counts, strict=True)
        ],
        "fails": predicted.failing,
        "stuck": predicted.lasting,
        "mean_s": predicted.mean_s,
        "recovery_s": predicted.recovery_s,
        "simulated": {
            "seeds": len(sample.runs),
            "failed": len(sample.failed),
            "unexplained": len(sample.unexplained),
            "waited_for": sample.stuck + len(sample.recoveries_s),
            "stuck": sample.stuck,
            "patience_s": sample.patience_s,
            "mean_s": sample.mean_s,
            "recovery_s": sample.recovery_s,
        },
    }


def case_list_document(case_catalogues: Mapping[str, CaseCatalogue]) -> dict[str, Any]:
    """The list of cases as a JSON document."""
    return {
        "format": FORMAT,
        "cases": [
            {
                "client": client,
                "releases": list(profiles()[client].releases),
                "faults": list(case.faults),
                "case": case.name,
                "scenario": case.scenario,
                "about": case.about,
                "formulas": [cited.formula.name for cited in case.cited],
                "by_default_s": default_seconds(case, profiles()[client].releases),
            }
            for client, library in case_catalogues.items()
            for case in library.ranked()
        ],
        "by_chance": [
            {
                "client": client,
                "releases": list(profiles()[client].releases),
                "asked_as": (one.case.faults or (BOOTSTRAP,))[0],
                "case": one.case.name,
                "scenario": one.case.scenario,
                "about": one.distribution.about,
                "distribution": one.distribution.name,
            }
            for client, library in case_catalogues.items()
            for one in library.by_chance
        ],
    }


def _finite(value: float) -> float | None:
    return None if isinf(value) else value


def _price(price: Price) -> dict[str, Any]:
    return {
        "healed": _healing(price.healing),
        "survives_reset": price.survives_reset,
        "lost_syn_fails": list(price.lost_syn_fails),
    }


def _healing(healing: HealingSweep | None) -> dict[str, Any] | None:
    if healing is None:
        return None
    return {"rides_out_s": healing.rides_out_s, "runs": [asdict(run) for run in healing.runs]}


def _term(term: ExplainedTerm) -> dict[str, Any]:
    return {**asdict(term), "total_s": term.total_s}


def _run(run: SimulatedRun | None) -> dict[str, Any] | None:
    return None if run is None else asdict(run)


def _trial(trial: Trial) -> dict[str, Any]:
    names = (name for name, _ in trial.changes)
    return {
        "settings": dict(zip(names, trial.texts, strict=True)),
        "predicted_s": trial.predicted_s,
        "formula": trial.prediction.cited.formula.name if trial.prediction else None,
        "simulated": _run(trial.run),
    }


def _other(other: OtherRelease) -> dict[str, Any]:
    return {
        "version": other.version,
        "predicted_s": other.prediction.seconds if other.prediction else None,
        "formula": other.prediction.cited.formula.name if other.prediction else None,
        "simulated": _run(other.run),
        "changes": [asdict(change) for change in other.changes],
        "why_not": other.why_not,
    }
