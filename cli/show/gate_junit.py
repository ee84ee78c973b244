"""A gate as JUnit XML: a case of the baseline is a test, so that what got worse stands beside other failed tests.

What got worse or was lost is a failure; what is unsure is an error, and skipped where the user lets it pass.
"""

from collections.abc import Iterator
from itertools import groupby
from xml.etree.ElementTree import Element, SubElement

from cli.show.gate_findings import GateFinding, findings
from harness.gating.gate import GateResult
from harness.records.junit import Facts, Suite, xml_safe

SUITE = "gate"


def gate_suites(gated: GateResult, *, verdict: str, warned: bool) -> Iterator[Suite]:
    """Suites of the document. `verdict` is the closing line's text: where nothing was compared that is the only case's
    error."""
    listed = [] if gated.other_machine else sorted(findings(gated), key=lambda found: (found.scenario, found.case))
    facts = list(_facts(gated))
    for scenario, its in groupby(listed, key=lambda found: found.scenario):
        name = f"{SUITE}/{scenario}"
        there = list(its)
        path = next((found.path for found in there if found.path), "")
        cases = [_case(name, found, warned=warned) for found in there]
        yield Suite(name=name, cases=cases, facts=Facts(properties=facts, file=path))
    if not (gated.compared or gated.silent or gated.lost):
        case = _named(SUITE, "comparison")
        SubElement(case, "error", type="nothing-compared", message=xml_safe(verdict))
        yield Suite(name=SUITE, cases=[case], facts=Facts(properties=facts))


def _facts(gated: GateResult) -> Iterator[tuple[str, str]]:
    yield "baseline", gated.baseline.source
    yield "current", gated.current.source
    yield "floor", str(gated.floor)


def _case(suite: str, found: GateFinding, *, warned: bool) -> Element:
    case = _named(suite, found.case)
    for tag in _tags(found, warned=warned):
        child = SubElement(case, tag, type=xml_safe(found.kind))
        child.set("message", xml_safe(found.sentence))
    if found.figures:
        SubElement(case, "system-out").text = xml_safe(f"{found.status}: {found.sentence}")
    return case


def _tags(found: GateFinding, *, warned: bool) -> Iterator[str]:
    if found.status in ("regression", "lost"):
        yield "failure"
    elif found.status == "unsure":
        yield "skipped" if warned else "error"


def _named(suite: str, name: str) -> Element:
    return Element("testcase", {"classname": xml_safe(suite), "name": xml_safe(name), "time": "0.000"})
