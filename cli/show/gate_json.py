"""What was compared, as JSON values: two suites, compared by the gate or shown beside each other."""

from dataclasses import asdict
from typing import Any

from cli.exit_codes import ExitCode
from cli.show.difference_text import change, figures, label
from cli.show.gate_text import EXIT_HEADLINES
from harness.comparing.frequencies import FrequencyChange
from harness.comparing.side_by_side import SuiteComparison
from harness.gating.assessment import SEVERITY, AssessedDifference
from harness.gating.gate import GateResult

FORMAT = 1


def gate_document(gated: GateResult, code: ExitCode) -> dict[str, Any]:
    """The comparison as JSON values."""
    findings = [
        {"kind": assessment, **one.key.as_json(), "leading": _judged(one.assessed[0]) if one.assessed else None,
         "also": [_judged(other) for other in one.differences_assessed(assessment)[1:]], "where": list(one.where)}
        for assessment in SEVERITY
        if assessment != "unchanged"
        for one in gated.cases_assessed(assessment)
    ]  # fmt: skip
    return {
        "format": FORMAT,
        "verdict": EXIT_HEADLINES[code][0].lower(),
        "exit_code": int(code),
        "baseline": gated.baseline.source,
        "current": gated.current.source,
        "other_machine": gated.other_machine,
        "floor": str(gated.floor),
        "expected": gated.expected,
        "compared": len(gated.compared),
        "unchanged": len(gated.cases_assessed("unchanged")),
        "findings": findings,
        "lost": [case.key.as_json() for case in gated.lost],
        "silent": [one.key.as_json() | {"reasons": list(one.spoilt.reasons)} for one in gated.silent],
        "new": [case.key.as_json() for case in gated.new],
        "set_aside": [*gated.baseline.set_aside, *gated.current.set_aside],
    }


def comparison_document(found: SuiteComparison) -> dict[str, Any]:
    """Two suites beside each other as JSON values."""
    return {
        "format": FORMAT,
        "first": found.first.source,
        "second": found.second.source,
        "other_machine": found.other_machine,
        "differing": [
            {
                "first": one.first.key.as_json(),
                "second": one.second.key.as_json(),
                "shifts": [asdict(shift) for shift in one.shifts],
                "happenings": [_symptom(change) for change in one.changes],
                "settings": list(one.settings),
            }
            for one in found.differing
        ],
        "same": [one.first.key.as_json() for one in found.both if not one.differs],
        "only_first": [case.key.as_json() for case in found.only_first],
        "only_second": [case.key.as_json() for case in found.only_second],
        "silent": [one.key.as_json() for one, _ in found.silent],
    }


def _judged(one: AssessedDifference) -> dict[str, Any]:
    document: dict[str, Any] = {"kind": label(one), "rate": one.q_value, "needed": one.runs_needed}
    if isinstance(one.of, FrequencyChange):
        return document | {"text": change(one.of)} | _symptom(one.of)
    return document | {"text": figures(one.of)} | asdict(one.of)


def _symptom(one: FrequencyChange) -> dict[str, Any]:
    return {
        "happening": str(one.symptom), "before": one.before, "of_before": one.of_before, "now": one.now,
        "of_now": one.of_now,
    }  # fmt: skip
