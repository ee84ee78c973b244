"""Results as JUnit XML: how CI systems show them beside other tests.

A suite a scenario, a case a run, and one for each expectation that its repeats were held to together. What failed the
client is a failure; what the lab broke and what tested nothing is an error, so that no consumer counts it as passed.
Valid by junit-10.xsd of Jenkins' xunit plugin, the strictest of the consumers: properties stand in suites alone, and
those of a case (predicted, measured) are lines of its `system-out`, which people are shown.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import IO
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from harness.records.atomic import copy_atomically
from harness.records.folder import ResultsUnwritable
from harness.records.group import GroupRecord
from harness.records.manifest import Manifest
from harness.records.reader import Results
from harness.records.run import ExpectationResult, NamedValue, RunRecord, Verdict

ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that no XML 1.0 document may contain, escaped or not."""

COUNTED_AS = {"failure": "failures", "error": "errors", "skipped": "skipped"}
VERDICTS = {"held": "pass", "failed": "fail"}
"""Of an expectation that is no claim; other outcomes are called as verdicts are."""
KINDS = {"equals": "", "at_most": "at most ", "at_least": "at least ", "between": "", "claim": ""}


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """A `testsuite`. Its cases are made one at a time; `facts`, which they may add to, are asked for after the last."""

    name: str
    cases: Iterable[Element]
    facts: "Facts"


@dataclass(kw_only=True)
class Facts:
    """What a suite says of all its cases: the scenario's file, when the first one started, properties."""

    properties: list[tuple[str, str]] = field(default_factory=list)
    file: str = ""
    timestamp: str = ""
    shared: dict[str, dict[str, None]] = field(default_factory=dict)
    """Of what may differ between runs, every value."""

    def add(self, run: RunRecord) -> None:
        self.file = self.file or run.path
        self.timestamp = min(self.timestamp or run.started_at, run.started_at)
        client = f"{run.client} {run.client_version}".strip()
        for name, value in (("environment", run.environment), ("driver", run.driver), ("client", client)):
            self.shared.setdefault(name, {})[value] = None

    @property
    def listed(self) -> list[tuple[str, str]]:
        return [*self.properties, *((name, ", ".join(values)) for name, values in self.shared.items())]


def junit(folders: Sequence[Results]) -> bytes:
    """The document. Planned runs without a record are errors; several suites are told apart by their names.

    A run that is in several folders of one suite counts once.
    """
    with document("faultlab", _all_suites(folders)) as made:
        return made.read()


def write_junit(file: Path, folders: Sequence[Results]) -> Path:
    """Write the document of these suites, whole or not at all. Raises ResultsUnwritable."""
    return write_document(file, "faultlab", _all_suites(folders))


def write_document(file: Path, name: str, suites: Iterable[Suite]) -> Path:
    """Whole or not at all; no more than a case is in memory at a time. Raises ResultsUnwritable."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with document(name, suites) as made:
            copy_atomically(file, made)
    except OSError as error:
        raise ResultsUnwritable(
            f"cannot write {file}: {error.strerror or error}; the results themselves are complete",
            "name a file that can be written",
        ) from error
    return file


@contextmanager
def document(name: str, suites: Iterable[Suite]) -> Iterator[IO[bytes]]:
    """The suites as XML, in a temporary file at its beginning. What an element counts stands before what it has, so
    each element's inside is written first."""
    root = Element("testsuites", name=name)
    totals: Counter[str] = Counter()
    with TemporaryFile() as made, TemporaryFile() as inside:
        for suite in suites:
            totals.update(_write_suite(inside, suite))
        for key in ("tests", "failures", "errors"):
            root.set(key, str(totals[key]))
        root.set("time", f"{totals['ms'] / 1e3:.3f}")
        made.write(b'<?xml version="1.0" encoding="UTF-8"?>\n')
        _write_around(made, root, inside, depth=0)
        made.seek(0)
        yield made


def _write_suite(stream: IO[bytes], suite: Suite) -> Mapping[str, int]:
    """Returns what it counts; times as whole milliseconds, as they are written."""
    counted: Counter[str] = Counter({"tests": 0, "failures": 0, "errors": 0, "skipped": 0, "ms": 0})
    with TemporaryFile() as inside:
        for case in suite.cases:
            counted["tests"] += 1
            counted["ms"] += round(float(case.get("time", "0")) * 1e3)
            counted.update(COUNTED_AS[child.tag] for child in case if child.tag in COUNTED_AS)
            _write_element(inside, case, depth=2)
        around = Element("testsuite", name=xml_safe(suite.name))
        for key in ("tests", "failures", "errors", "skipped"):
            around.set(key, str(counted[key]))
        around.set("time", f"{counted['ms'] / 1e3:.3f}")
        if suite.facts.file:
            around.set("file", xml_safe(suite.facts.file))
        if suite.facts.timestamp:
            around.set("timestamp", suite.facts.timestamp)
        if suite.facts.listed:
            listed = SubElement(around, "properties")
            for key, value in suite.facts.listed:
                SubElement(listed, "property", name=xml_safe(key), value=xml_safe(value))
        _write_around(stream, around, inside, depth=1)
    return counted


def _write_element(stream: IO[bytes], element: Element, *, depth: int) -> None:
    indent(element, level=depth)
    stream.write(b"  " * depth + tostring(element, encoding="utf-8") + b"\n")


def _write_around(stream: IO[bytes], element: Element, inside: IO[bytes], *, depth: int) -> None:
    """The element with its children, and behind them what was written before."""
    indent(element, level=depth)
    whole: bytes = tostring(element, encoding="utf-8", short_empty_elements=False)
    opening, _, closing = whole.rpartition(b"</")
    stream.write(b"  " * depth + opening.rstrip() + b"\n")
    inside.seek(0)
    copyfileobj(inside, stream)
    stream.write(b"  " * depth + b"</" + closing + b"\n")


def _all_suites(folders: Sequence[Results]) -> Iterator[Suite]:
    merged = _merged(folders)
    for results in merged:
        runs: dict[str, list[RunRecord]] = {}
        for run in results.runs:
            runs.setdefault(run.scenario, []).append(run)
        yield from suites_of(
            results.manifest.suite,
            results.manifest,
            runs.items(),
            results.groups,
            results.missing,
            prefix=f"{results.manifest.suite}/" if len(merged) > 1 else "",
        )


def _merged(folders: Sequence[Results]) -> list[Results]:
    """One for each suite, whose runs may lie in several folders, as copies or as what a resumed one added."""
    found: dict[str, Results] = {}
    for results in folders:
        before = found.setdefault(results.manifest.suite, results)
        if before is results:
            continue
        newest = {run.run_id: run for run in sorted((*before.runs, *results.runs), key=lambda run: run.attempt)}
        planned = dict.fromkeys((*before.manifest.run_ids, *results.manifest.run_ids))
        found[results.manifest.suite] = replace(
            before,
            manifest=before.manifest.model_copy(update={"run_ids": tuple(planned)}),
            runs=tuple(newest[run_id] for run_id in dict.fromkeys((*planned, *newest)) if run_id in newest),
            groups=results.groups or before.groups,
        )
    return list(found.values())


def suites_of(
    name: str,
    manifest: Manifest | None,
    runs: Iterable[tuple[str, Iterable[RunRecord]]],
    groups: Sequence[GroupRecord],
    missing: Sequence[str],
    *,
    prefix: str,
) -> Iterator[Suite]:
    """A results folder's: one for each scenario, with its runs, and one for what was planned and is `missing`."""
    properties = [("suite", name)]
    if manifest is not None:
        properties += [
            ("faultlab", manifest.faultlab), ("machine", manifest.machine), ("seed", str(manifest.seed)),
        ]  # fmt: skip
    for scenario, own in runs:
        facts = Facts(properties=properties)
        shared = [group for group in groups if group.scenario == scenario]
        yield Suite(name=prefix + scenario, cases=_cases(prefix + scenario, own, shared, facts), facts=facts)
    if missing:
        called = f"{prefix}not run"
        yield Suite(name=called, cases=(_missing(run_id, called) for run_id in missing), facts=Facts())


def _cases(suite: str, runs: Iterable[RunRecord], groups: Sequence[GroupRecord], facts: Facts) -> Iterator[Element]:
    for run in runs:
        facts.add(run)
        yield _run(run, suite)
    for group in groups:
        yield _group(group, suite)


def _run(run: RunRecord, suite: str) -> Element:
    case = _case(suite, f"{_client_label(run)} #{run.repeat}", seconds=run.duration_s)
    failing = [one for one in run.expectations if one.fails_run]
    reasons = run.reasons or tuple(_said(one) for one in failing)
    kind = run.error.code if run.error is not None else "expectation"
    details = [line for one in failing for line in (*_details(one), f"  {run.path}:{one.line}")]
    messages = [_said(one) for one in failing] or reasons
    _verdict(case, run.verdict, kind=kind, messages=messages, text=[*dict.fromkeys([*reasons, *details]), *_again(run)])
    lines = [f"environment  {run.environment}", f"driver       {run.driver}", f"run          {run.run_id}"]
    lines += [line for one in run.expectations if one.outcome != "skipped" for line in _figures(one)]
    SubElement(case, "system-out").text = xml_safe("\n".join(lines))
    return case


def _group(group: GroupRecord, suite: str) -> Element:
    what = f"{group.q:g}-quantile" if group.statistic == "quantile" else group.statistic
    case = _case(suite, f"{_client_label(group)} {what} {group.of} {_bound(group)}", seconds=0.0)
    measured = f"{what} {group.of}: expected {_range(group)}, estimated {_amount(group.estimate, group.unit)}"
    text = [measured, f"  {group.measured} of {group.runs} runs have a value", f"  {group.path}:{group.line}"]
    text += [group.reason] if group.reason else []
    _verdict(case, group.verdict, kind="expectation", messages=[group.reason or measured], text=text)
    lines = [f"environment  {group.environment}", f"driver       {group.driver}"]
    lines += [f"predicted    {_range(group)}", f"measured     {_amount(group.estimate, group.unit)}"]
    SubElement(case, "system-out").text = xml_safe("\n".join(lines))
    return case


def _missing(run_id: str, suite: str) -> Element:
    case = _case(suite, f"run {run_id}", seconds=0.0)
    _verdict(case, "inconclusive", kind="not-run", messages=["the suite ended before this run did"], text=[])
    return case


def _case(suite: str, name: str, *, seconds: float) -> Element:
    return Element("testcase", {"classname": xml_safe(suite), "name": xml_safe(name), "time": f"{seconds:.3f}"})


def _verdict(case: Element, verdict: Verdict, *, kind: str, messages: Sequence[str], text: Sequence[str]) -> None:
    """The child that says what is wrong; none for what passed."""
    message = " ".join("; ".join(messages).split()) or verdict
    match verdict:
        case "pass":
            return
        case "fail":
            child = SubElement(case, "failure", type=xml_safe(kind))
        case "lab_error":
            child = SubElement(case, "error", type=xml_safe(kind))
        case "inconclusive":
            child = SubElement(case, "error", type=kind if kind == "not-run" else "inconclusive")
            message = message if kind == "not-run" else f"inconclusive: {message}"
        case "skipped":
            child = SubElement(case, "skipped", type="skipped")
    child.set("message", xml_safe(message))
    if text:
        child.text = xml_safe("\n".join(text))


def _again(run: RunRecord) -> list[str]:
    return [f"replay  faultlab replay {run.run_id}"]


def _client_label(record: RunRecord | GroupRecord) -> str:
    """`sarama 1.27.2 settings.Producer.Retry.Max=1`: the same in every suite, so that histories meet."""
    real = ["real"] if record.driver == "real" else []
    return " ".join([*real, record.client, record.client_version, *map(_parameter, record.parameters)]).strip()


def _parameter(value: NamedValue) -> str:
    return f"{value.name}={value.text}"


def _figures(one: ExpectationResult) -> Iterator[str]:
    declared = "" if one.declared_holds is None else f", declared `holds: {str(one.declared_holds).lower()}`"
    outcome = one.outcome if one.kind == "claim" else VERDICTS.get(one.outcome, one.outcome)
    yield f"{one.measure} {_bound(one)}: {outcome}{declared}"
    yield f"  predicted  {_range(one)}"
    yield f"  measured   {_measured(one)}"


def _details(one: ExpectationResult) -> Iterator[str]:
    yield from _figures(one)
    if one.reason:
        yield f"  {one.reason}"
    if one.source:
        yield f"  source: {one.source}"


def _said(one: ExpectationResult) -> str:
    claim = f"claim {one.formula} {one.outcome}: " if one.kind == "claim" else ""
    return f"{claim}{one.measure}: expected {_range(one)}, measured {_measured(one)}"


def _bound(one: ExpectationResult | GroupRecord) -> str:
    return f"{one.kind.replace('_', ' ')} {one.formula}"


def _range(one: ExpectationResult | GroupRecord) -> str:
    """`8.850 s (8.712 .. 8.988)`, `at most 9.000 s`."""
    if one.kind == "between" and one.low is not None and one.high is not None:
        return f"{_amount(one.low, one.unit)} .. {_amount(one.high, one.unit)}"
    if one.unit == "text":
        return one.formula
    if one.predicted is None:
        return "nothing"
    ends = (one.low, one.high)
    around = f" ({ends[0]:.3f} .. {ends[1]:.3f})" if one.kind in ("equals", "claim") and _both(ends) else ""
    return f"{KINDS[one.kind]}{_amount(one.predicted, one.unit)}{around}"


def _both(ends: tuple[float | None, float | None]) -> bool:
    return None not in ends and ends[0] != ends[1]


def _measured(one: ExpectationResult) -> str:
    if one.measured is None and one.censored_at is not None:
        return f"at least {_amount(one.censored_at, one.unit)}"
    return one.measured_text or _amount(one.measured, one.unit)


def _amount(value: float | None, unit: str) -> str:
    if value is None:
        return "nothing"
    if unit == "count":
        return f"{value:g}"
    return f"{value:.3f} s" if unit == "s" else f"{value:.3f}"


def xml_safe(text: str) -> str:
    """The text without characters that no XML document may contain."""
    return ILLEGAL.sub("", text)
