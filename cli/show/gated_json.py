"""What was compared, as JSON values: two suites held against each other, or beside each other."""

from dataclasses import asdict
from typing import Any

from cli.exits import Exit
from cli.show.gated import HEADS
from cli.show.shifted import change, figures, label
from harness.gating.cases import CaseName
from harness.gating.changes import Change
from harness.gating.comparison import Gated
from harness.gating.judging import Judged
from harness.gating.side_by_side import SideBySide

FORMAT = 1


def gated_document(gated: Gated, code: Exit) -> dict[str, Any]:
    """The comparison as JSON values."""
    findings = [
        {"kind": said, **_name(one.name), "leading": _judged(one.judged[0]) if one.judged else None,
         "also": [_judged(other) for other in one.all_of(said)[1:]], "where": list(one.where)}
        for said in ("regression", "unsure", "better")
        for one in gated.that(said)
    ]  # fmt: skip
    return {
        "format": FORMAT,
        "verdict": HEADS[code][0].lower(),
        "exit_code": int(code),
        "baseline": gated.baseline.source,
        "current": gated.current.source,
        "other_machine": gated.other_machine,
        "floor": str(gated.floor),
        "expected": gated.expected,
        "compared": len(gated.compared),
        "unchanged": len(gated.that("unchanged")),
        "findings": findings,
        "lost": [_name(case.name) for case in gated.lost],
        "silent": [_name(one.name) | {"reasons": list(one.spoilt.reasons)} for one in gated.silent],
        "new": [_name(case.name) for case in gated.new],
        "set_aside": [*gated.baseline.set_aside, *gated.current.set_aside],
    }


def compared_document(found: SideBySide) -> dict[str, Any]:
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
                "happenings": [_happening(change) for change in one.changes],
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


def _judged(one: Judged) -> dict[str, Any]:
    told: dict[str, Any] = {"kind": label(one), "rate": one.rate, "needed": one.needed}
    if isinstance(one.of, Change):
        return told | {"text": change(one.of)} | _happening(one.of)
    return told | {"text": figures(one.of)} | asdict(one.of)


def _happening(one: Change) -> dict[str, Any]:
    return {
        "happening": str(one.happening), "before": one.before, "of_before": one.of_before, "now": one.now,
        "of_now": one.of_now,
    }  # fmt: skip
