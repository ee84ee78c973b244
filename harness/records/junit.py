"""Results as JUnit XML: how CI systems show them beside other tests.

A suite a scenario, a case a run, and one for each expectation that its repeats were held to together. What failed the
client is a failure; what the lab broke and what tested nothing is an error, so that no consumer counts it as passed.
Valid by junit-10.xsd of Jenkins' xunit plugin, the strictest of the consumers: properties stand in suites alone, and
those of a case (predicted, measured) are lines of its `system-out`, which people are shown.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from harness.records.atomic import write_atomically
from harness.records.folder import ResultsUnwritable
from harness.records.group import GroupRecord
from harness.records.reader import Results
from harness.records.run import ExpectationResult, NamedValue, RunRecord, Verdict

ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that no XML 1.0 document may contain, escaped or not."""

KINDS = {"equals": "", "at_most": "at most ", "at_least": "at least ", "between": "", "claim": ""}


def junit(folders: Sequence[Results]) -> bytes:
    """The document. Planned runs without a record are errors; several suites are told apart by their names.

    A run that is in several folders of one suite counts once.
    """
    root = Element("testsuites", name="faultlab")
    suites = _merged(folders)
    for results in suites:
        prefix = f"{results.manifest.suite}/" if len(suites) > 1 else ""
        for suite in _suites(results, prefix):
            root.append(suite)
    return document(root)


def document(root: Element) -> bytes:
    """The suites below `root`, counted up there, as a file holds them."""
    for name in ("tests", "failures", "errors"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
    root.set("time", f"{sum(float(suite.get('time', '0')) for suite in root):.3f}")
    indent(root)
    body: bytes = tostring(root, encoding="utf-8")
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + body + b"\n"


def write_junit(file: Path, folders: Sequence[Results]) -> Path:
    """Write the document of these suites, whole or not at all. Raises ResultsUnwritable."""
    return write_document(file, junit(folders))


def write_document(file: Path, document: bytes) -> Path:
    """Whole or not at all. Raises ResultsUnwritable."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, document)
    except OSError as error:
        raise ResultsUnwritable(
            f"cannot write {file}: {error.strerror or error}; the results themselves are complete",
            "name a file that can be written",
        ) from error
    return file


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


def _suites(results: Results, prefix: str) -> Iterator[Element]:
    runs: dict[str, list[RunRecord]] = {}
    for run in results.runs:
        runs.setdefault(run.scenario, []).append(run)
    for scenario, its in runs.items():
        shared = [group for group in results.groups if group.scenario == scenario]
        name = prefix + scenario
        cases = [*(_run(run, name) for run in its), *(_group(group, name) for group in shared)]
        suite = suite_of(name, cases, properties=_facts(results, its), file=its[0].path)
        suite.set("timestamp", min(run.started_at for run in its))
        yield suite
    if results.missing:
        name = f"{prefix}not run"
        yield suite_of(name, [_missing(run_id, name) for run_id in results.missing], properties=(), file="")


def suite_of(name: str, cases: Sequence[Element], *, properties: Iterable[tuple[str, str]], file: str) -> Element:
    """A suite of these cases, counted; their times add up."""
    counted = {
        "tests": len(cases),
        "failures": sum(case.find("failure") is not None for case in cases),
        "errors": sum(case.find("error") is not None for case in cases),
        "skipped": sum(case.find("skipped") is not None for case in cases),
    }
    seconds = sum(float(case.get("time", "0")) for case in cases)
    suite = Element("testsuite", {"name": xml_safe(name), **{key: str(number) for key, number in counted.items()}})
    suite.set("time", f"{seconds:.3f}")
    if file:
        suite.set("file", xml_safe(file))
    listed = [*properties]
    if listed:
        there = SubElement(suite, "properties")
        for key, value in listed:
            SubElement(there, "property", name=xml_safe(key), value=xml_safe(value))
    suite.extend(cases)
    return suite


def _facts(results: Results, runs: Sequence[RunRecord]) -> Iterator[tuple[str, str]]:
    """What all runs of a scenario share; of what differs between them, every value."""
    yield "suite", results.manifest.suite
    yield "faultlab", results.manifest.faultlab
    yield "machine", results.manifest.machine
    yield "seed", str(results.manifest.seed)
    yield "environment", ", ".join(dict.fromkeys(run.environment for run in runs))
    yield "driver", ", ".join(dict.fromkeys(run.driver for run in runs))
    yield "client", ", ".join(dict.fromkeys(f"{run.client} {run.client_version}".strip() for run in runs))


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
    text = [measured, f"  {group.measured} of {group.runs} runs told it", f"  {group.path}:{group.line}"]
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
    yield f"{one.measure} {_bound(one)}: {one.outcome}{declared}"
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
