"""`faultlab explain --json`: everything that the terminal shows, for programs."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from cli.show.explain_list import default_seconds
from client.profiles import profiles
from harness.explaining import (
    CaseCatalogue,
    ExplainedTerm,
    Explanation,
    Measurement,
    OtherRelease,
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
            "ways": [_trial(trial) for trial in budget.solutions],
            "failed": [_trial(trial) for trial in budget.failed],
        },
        "not_here": None
        if found.inapplicable is None
        else {"case": found.inapplicable.case.name, "reasons": list(found.inapplicable.reasons)},
        "see_also": [
            {"case": one.case.name, "formula": one.prediction.cited.formula.name, "predicted_s": one.prediction.seconds}
            for one in found.related
        ],
        "simulated_runs": found.simulated_runs,
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
    }


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
