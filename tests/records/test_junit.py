"""Protects what CI systems count: JUnit XML that a strict consumer takes, in which nothing that proved nothing has
passed, and no text of a program under test breaks the document."""

from collections.abc import Iterable
from pathlib import Path
from xml.etree.ElementTree import Element, fromstring

import pytest
import xmlschema
from hypothesis import given
from hypothesis import strategies as st
from record_samples import group, manifest, run

from harness.records.folder import ResultsFolder, ResultsUnwritable
from harness.records.group import GroupRecord
from harness.records.junit import junit, write_junit
from harness.records.reader import Results
from harness.records.run import ExpectationResult, LabErrorRecord, RunRecord

SCHEMA = xmlschema.XMLSchema(Path(__file__).with_name("junit-10.xsd"))


def results(runs: Iterable[RunRecord], groups: Iterable[GroupRecord] = (), missing: tuple[str, ...] = ()) -> Results:
    its = tuple(runs)
    planned = manifest(*(one.run_id for one in its), *missing)
    return Results(
        folder=ResultsFolder(Path("r")), manifest=planned, runs=its, tries=its, quarantined=(), groups=tuple(groups)
    )


def document(*folders: Results) -> Element:
    """The document, held to the schema of Jenkins' xunit plugin, and its sums to its cases."""
    text = junit(folders)
    SCHEMA.validate(text.decode())
    root = fromstring(text)
    for suite in root:
        cases = suite.findall("testcase")
        assert int(suite.get("tests", "")) == len(cases) > 0
        for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(suite.get(attribute, "")) == sum(case.find(tag) is not None for case in cases)
        names = [(case.get("classname"), case.get("name")) for case in cases]
        assert len(set(names)) == len(names), "consumers know cases by their names"
    for attribute in ("tests", "failures", "errors"):
        assert int(root.get(attribute, "")) == sum(int(suite.get(attribute, "")) for suite in root)
    return root


def judged(**more: object) -> ExpectationResult:
    return ExpectationResult.model_validate(
        {
            "measure": "probe.time_to_error", "kind": "equals", "formula": "2*Net.ReadTimeout", "unit": "s",
            "predicted": 4.0, "low": 3.91, "high": 4.09, "measured": 6.0, "outcome": "failed", "fails_run": True,
            "reason": "6.000 s is above 4.090 s", "source": "client.go", "line": 14, **more,
        }
    )  # fmt: skip


def test_a_run_is_a_case_of_its_scenario_s_suite() -> None:
    held = judged(measured=4.001, outcome="held", fails_run=False, reason=None)
    claim = judged(kind="claim", measured=4.001, outcome="refuted", fails_run=False, declared_holds=False)
    runs = [run(f"{n:012x}").model_copy(update={"repeat": n, "expectations": (held, claim)}) for n in (1, 2)]
    root = document(results(runs))
    (suite,) = root
    assert suite.get("name") == "sarama-blackhole"
    assert suite.get("file") == "scenarios/sarama/blackhole.scenario.yaml"
    assert suite.get("timestamp") == "2026-03-02T14:02:01+00:00"
    assert (suite.get("tests"), suite.get("time"), root.get("time")) == ("2", "4.200", "4.200")
    facts = {one.get("name"): one.get("value") for one in suite.iter("property")}
    assert facts["environment"] == "sim"
    assert facts["driver"] == "bundled"
    assert facts["client"] == "sarama 1.27.2"
    first, second = suite.findall("testcase")
    assert (first.get("classname"), first.get("name")) == ("sarama-blackhole", "sarama 1.27.2 #1")
    assert second.get("name") == "sarama 1.27.2 #2"
    assert first.get("time") == "2.100"
    said = first.findtext("system-out", "")
    assert "predicted  4.000 s (3.910 .. 4.090)\n" in said
    assert "measured   4.001 s" in said
    assert "claim 2*Net.ReadTimeout: refuted, declared `holds: false`\n" in said
    assert [child.tag for child in first] == ["system-out"], "nothing is wrong with it"


def test_a_failed_expectation_is_a_failure_with_figures_place_and_replay() -> None:
    failed = run("7f3a00000000", verdict="fail").model_copy(update={"expectations": (judged(), judged(line=15))})
    (failure,) = document(results([failed])).iter("failure")
    assert failure.get("type") == "expectation"
    message = "probe.time_to_error: expected 4.000 s (3.910 .. 4.090), measured 6.000 s"
    assert failure.get("message") == f"{message}; {message}"
    text = failure.text or ""
    assert "2*Net.ReadTimeout" in text
    assert "scenarios/sarama/blackhole.scenario.yaml:14\n" in text
    assert "scenarios/sarama/blackhole.scenario.yaml:15\n" in text
    assert "6.000 s is above 4.090 s" in text
    assert text.endswith("faultlab replay 7f3a00000000")


def test_a_claim_against_its_declaration_and_a_censored_time_are_told() -> None:
    claim = judged(kind="claim", outcome="refuted", declared_holds=True, measured=None, censored_at=60.0)
    failed = run("7f3a00000000", verdict="fail").model_copy(update={"expectations": (claim,)})
    (failure,) = document(results([failed])).iter("failure")
    assert failure.get("message") == (
        "claim 2*Net.ReadTimeout refuted: probe.time_to_error: expected 4.000 s (3.910 .. 4.090),"
        " measured at least 60.000 s"
    )


def test_what_the_lab_broke_and_what_tested_nothing_are_errors() -> None:
    broken = run("a" * 12, verdict="lab_error").model_copy(
        update={"error": LabErrorRecord(code="broker-died", text="gone", blame="lab"), "reasons": ("gone",)}
    )
    nothing = run("b" * 12, verdict="inconclusive").model_copy(
        update={"reasons": ("fault `outage` dropped 0 packets", "and so"), "repeat": 2}
    )
    root = document(results([broken, nothing]))
    assert [(e.get("type"), e.get("message")) for e in root.iter("error")] == [
        ("broker-died", "gone"),
        ("inconclusive", "inconclusive: fault `outage` dropped 0 packets; and so"),
    ]
    assert root.get("failures") == "0"


def test_what_was_skipped_says_why_and_what_was_not_run_is_an_error() -> None:
    skipped = run("a" * 12, verdict="skipped").model_copy(update={"reasons": ("no expectation applies",)})
    root = document(results([skipped], missing=("c" * 12, "d" * 12)))
    assert [one.get("message") for one in root.iter("skipped")] == ["no expectation applies"]
    assert [one.get("message") for one in root.iter("error")] == ["the suite ended before this run did"] * 2
    assert [case.get("name") for case in root[1]] == [f"run {'c' * 12}", f"run {'d' * 12}"]


def test_what_repeats_have_in_common_is_a_case_of_its_own() -> None:
    shared = document(results([run("a" * 12)], [group("failed").model_copy(update={"scenario": "sarama-blackhole"})]))
    case = shared[0].findall("testcase")[1]
    assert case.get("name") == "sarama 1.27.2 share probe.outcome == 'failed' equals 1/6"
    assert case.find("failure") is not None
    assert "measured     0.150" in case.findtext("system-out", "")


def test_several_folders_are_told_apart() -> None:
    one = results([run("a" * 12)])
    other = Results(
        folder=ResultsFolder(Path("s")),
        manifest=one.manifest.model_copy(update={"suite": "other"}),
        runs=one.runs, tries=one.tries, quarantined=(),
    )  # fmt: skip
    classes = [case.get("classname") for case in document(one, other).iter("testcase")]
    assert classes == ["20260302-1402/sarama-blackhole", "other/sarama-blackhole"]


def test_a_run_in_two_folders_of_a_suite_counts_once_and_its_last_try(tmp_path: Path) -> None:
    """As copies of a suite that was resumed elsewhere lie beside it."""
    a, b, c = (run(name * 12).model_copy(update={"repeat": n}) for n, name in enumerate("abc"))
    first = results([a, b.model_copy(update={"verdict": "inconclusive"})], missing=(c.run_id,))
    again = results([b.model_copy(update={"attempt": 2}), c])
    root = document(first, again)
    assert [suite.get("name") for suite in root] == ["sarama-blackhole"]
    assert (root.get("tests"), root.get("errors")) == ("3", "0")
    assert document(first).get("errors") == "2", "one proved nothing, one was not run"


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_no_text_breaks_the_document(text: str) -> None:
    odd = run("a" * 12, verdict="lab_error").model_copy(
        update={
            "error": LabErrorRecord.model_construct(code=text, text=text, blame="subject"),
            "reasons": (text, "]]>", "<b>&amp;"), "scenario": f"s{text}", "client": text, "path": text,
        }
    )  # fmt: skip
    root = document(results([odd]))
    message = next(root.iter("error")).get("message", "")
    assert message.endswith("; ]]>; <b>&amp;")


def test_the_file_is_whole_or_not_there(tmp_path: Path) -> None:
    file = write_junit(tmp_path / "new" / "junit.xml", [results([run("a" * 12)])])
    assert fromstring(file.read_bytes()).get("tests") == "1"
    assert [path.name for path in file.parent.iterdir()] == ["junit.xml"]
    (tmp_path / "in-the-way").write_text("")
    with pytest.raises(ResultsUnwritable, match=r"cannot write .*in-the-way/junit\.xml: "):
        write_junit(tmp_path / "in-the-way" / "junit.xml", [results([run("a" * 12)])])
