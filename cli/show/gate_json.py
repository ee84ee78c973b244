"""What was compared, as JSON values: two suites held against each other, or beside each other."""

from dataclasses import asdict
from typing import Any

from cli.exit_codes import ExitCode
from cli.show.difference_text import change, figures, label
from cli.show.gate_text import EXIT_HEADLINES
from harness.gating.assessment import AssessedDifference
from harness.gating.cases import CaseName
from harness.gating.frequencies import FrequencyChange
from harness.gating.gate import GateResult
from harness.gating.side_by_side import SuiteComparison

FORMAT = 1


def gate_document(gated: GateResult, code: ExitCode) -> dict[str, Any]:
    """The comparison as JSON values."""
    findings = [
        {"kind": assessment, **_name(one.name), "leading": _judged(one.assessed[0]) if one.assessed else None,
         "also": [_judged(other) for other in one.differences_assessed(assessment)[1:]], "where": list(one.where)}
        for assessment in ("regression", "unsure", "better")
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
        "lost": [_name(case.name) for case in gated.lost],
        "silent": [_name(one.name) | {"reasons": list(one.spoilt.reasons)} for one in gated.silent],
        "new": [_name(case.name) for case in gated.new],
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
                "first": _name(one.first.name),
                "second": _name(one.second.name),
                "shifts": [asdict(shift) for shift in one.shifts],
                "happenings": [_symptom(change) for change in one.changes],
                "settings": list(one.settings),
            }
            for one in found.differing
        ],
        "same": [_name(one.first.name) for one in found.both if not one.differs],
        "only_first": [_name(case.name) for case in found.only_first],
        "only_second": [_name(case.name) for case in found.only_second],
        "silent": [_name(one.name) for one, _ in found.silent],
    }


def _name(name: CaseName) -> dict[str, Any]:
    return {**name._asdict(), "parameters": dict(name.parameters)}


def _judged(one: AssessedDifference) -> dict[str, Any]:
    told: dict[str, Any] = {"kind": label(one), "rate": one.q_value, "needed": one.runs_needed}
    if isinstance(one.of, FrequencyChange):
        return told | {"text": change(one.of)} | _symptom(one.of)
    return told | {"text": figures(one.of)} | asdict(one.of)


def _symptom(one: FrequencyChange) -> dict[str, Any]:
    return {
        "happening": str(one.symptom), "before": one.before, "of_before": one.of_before, "now": one.now,
        "of_now": one.of_now,
    }  # fmt: skip
