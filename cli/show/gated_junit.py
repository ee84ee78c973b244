"""A gate as JUnit XML: a case of the baseline is a test, so that what got worse stands beside other failed tests.

What got worse or was lost is a failure; what nobody can tell is an error, and skipped where the user lets it pass.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby
from xml.etree.ElementTree import Element, SubElement

from cli.show.gated_findings import Found, findings
from harness.gating.comparison import Gated
from harness.records.junit import document, legal, suite_of

SUITE = "gate"


def gated_junit(gated: Gated, *, verdict: str, warned: bool) -> bytes:
    """The document. `verdict` is the closing line's text: where nothing was compared that is the only case's error."""
    root = Element("testsuites", name="faultlab gate")
    told = [] if gated.other_machine else sorted(findings(gated), key=lambda found: (found.scenario, found.case))
    facts = list(_facts(gated))
    for scenario, cases in groupby(told, key=lambda found: found.scenario):
        name = f"{SUITE}/{scenario}"
        there = list(cases)
        path = next((found.path for found in there if found.path), "")
        root.append(suite_of(name, [_case(name, found, warned=warned) for found in there], properties=facts, file=path))
    if not (gated.compared or gated.silent or gated.lost):
        case = _named(SUITE, "comparison")
        SubElement(case, "error", type="nothing-compared", message=legal(verdict))
        root.append(suite_of(SUITE, [case], properties=facts, file=""))
    return document(root)


def _facts(gated: Gated) -> Iterable[tuple[str, str]]:
    yield "baseline", gated.baseline.source
    yield "current", gated.current.source
    yield "floor", str(gated.floor)


def _case(suite: str, found: Found, *, warned: bool) -> Element:
    case = _named(suite, found.case)
    for tag in _tags(found, warned=warned):
        child = SubElement(case, tag, type=legal(found.kind))
        child.set("message", legal(found.sentence))
    if found.figures:
        SubElement(case, "system-out").text = legal(f"{found.word}: {found.sentence}")
    return case


def _tags(found: Found, *, warned: bool) -> Iterator[str]:
    if found.word in ("regression", "lost"):
        yield "failure"
    elif found.word == "unsure":
        yield "skipped" if warned else "error"


def _named(suite: str, name: str) -> Element:
    return Element("testcase", {"classname": legal(suite), "name": legal(name), "time": "0.000"})
