"""Protects what other people's CI has of a gate: a line and an annotation for each case that got worse, at its scenario
where that is known, the page of the job, JUnit XML that consumers read; and no command by whoever names a scenario."""

import re
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest
import xmlschema
from command_line import Done, faultlab, write_scenario

GITHUB = {"GITHUB_ACTIONS": "true", "CI": "true"}
SCHEMA = xmlschema.XMLSchema(Path(__file__).parents[1] / "records" / "junit-10.xsd")
RUNS = 12
LOG = ("dark", "darker", "darkest")


@pytest.fixture(scope="module")
def suites(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`was` and `is`: `dark` got slower, `darker` is as it was, `darkest` is not run any more."""
    folder = tmp_path_factory.mktemp("gate-ci")
    for name in LOG:
        write_scenario(folder / "s", name, repeat=RUNS)
    assert faultlab("run", "s", "--env", "sim", "--out", "was", cwd=folder).code == 0
    dark = folder / "s" / "dark.scenario.yaml"
    dark.write_text(dark.read_text().replace("Net.ReadTimeout: 2s", "Net.ReadTimeout: 3s"))
    (folder / "s" / "darkest.scenario.yaml").unlink()
    assert faultlab("run", "s", "--env", "sim", "--out", "is", cwd=folder).code == 0
    return folder


def gate(folder: Path, *arguments: str | Path, **variables: str) -> Done:
    return faultlab("gate", *arguments, "--ci", cwd=folder, env=variables)


def commands(done: Done) -> list[str]:
    return [line for line in (done.out + done.err).splitlines() if line.startswith("::")]


def test_each_case_that_is_worse_has_a_line_and_an_annotation_at_its_scenario(suites: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    done = gate(
        suites, "--baseline", "was", "--current", "is", **GITHUB, GITHUB_WORKSPACE=str(suites.parent),
        GITHUB_STEP_SUMMARY=str(page),
    )  # fmt: skip
    assert done.code == 10, done.out + done.err
    assert "\x1b" not in done.out
    slower, lost = commands(done)
    said = "dark sarama 1.27.2: time to error 2.00 -> 3.00 s +1.00 [+1.00 +1.00] q<0.0001 where: Net.ReadTimeout 2s"
    assert slower.startswith(f"::error file={suites.name}/s/dark.scenario.yaml,line=1,title=regression::{said}")
    assert f"s/dark.scenario.yaml:1: error[regression]: {said}" in done.out, "the same in one line"
    assert lost == "::error title=lost::darkest sarama 1.27.2: in the baseline, not run now"
    assert done.lines[0] == f"compared 2 of 3 scenarios, {RUNS} + {RUNS} runs, virtual time"
    assert any(line.startswith("REGRESSED   1 slower, 1 lost") for line in done.lines[-4:]), "the verdict comes last"
    text = page.read_text()
    assert text.startswith("### faultlab gate: REGRESSED\n\n1 slower, 1 lost\n\ncompared 2 of 3 scenarios")
    assert "| **REGRESSION** | dark sarama 1.27.2 | time to error | 2.00 -&#62; 3.00 s +1.00" in text
    assert "| **LOST** | darkest sarama 1.27.2 |" in text
    assert "unchanged: 1 case" in text


def test_junit_has_a_test_for_each_case_of_the_baseline(suites: Path, tmp_path: Path) -> None:
    file = tmp_path / "new" / "gate.xml"
    assert gate(suites, "--baseline", "was", "--current", "is", "--junit", file).code == 10
    SCHEMA.validate(str(file))
    root = fromstring(file.read_bytes())
    told = {case.get("name"): [child.tag for child in case] for case in root.iter("testcase")}
    assert told == {
        "dark sarama 1.27.2": ["failure", "system-out"],
        "darker sarama 1.27.2": ["system-out"],
        "darkest sarama 1.27.2": ["failure", "system-out"],
    }
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("3", "2", "0")
    failure = root.find(".//failure")
    assert failure is not None
    assert (failure.get("type"), (failure.get("message") or "")[:27]) == ("slower", "time to error 2.00 -> 3.00 ")
    assert gate(suites, "--baseline", "was", "--current", "was", "--junit", file).code == 0
    assert fromstring(file.read_bytes()).get("failures") == "0"


def test_what_nobody_can_tell_is_an_error_and_skipped_where_it_may_pass(suites: Path, tmp_path: Path) -> None:
    few = tmp_path / "few"
    dark = suites / "s" / "dark.scenario.yaml"
    before = dark.read_text()
    try:
        dark.write_text(before.replace("Net.ReadTimeout: 3s", "Net.ReadTimeout: 2900ms"))
        done = faultlab("run", "s", "--env", "sim", "--repeat", "2", "--only", "dark", "--out", few, cwd=suites)
        assert done.code == 0, done.out
    finally:
        dark.write_text(before)
    file = tmp_path / "gate.xml"
    options = ("--baseline", "is", "--current", few, "--only", "dark", "--junit", file)
    done = gate(suites, *options, **GITHUB)
    assert done.code == 2, done.out
    (unsure,) = commands(done)
    assert unsure.startswith("::warning file=s/dark.scenario.yaml,line=1,title=unsure::dark sarama 1.27.2: ")
    assert re.search(r"only 12 \+ 2 conclusive runs needs \d+ runs a side", unsure)
    assert [child.tag for child in next(fromstring(file.read_bytes()).iter("testcase"))][:1] == ["error"]
    warned = gate(suites, *options, "--inconclusive", "warn", **GITHUB)
    assert warned.code == 0
    SCHEMA.validate(str(file))
    assert [child.tag for child in next(fromstring(file.read_bytes()).iter("testcase"))][:1] == ["skipped"]


def test_nothing_compared_is_no_green_file(suites: Path, tmp_path: Path) -> None:
    write_scenario(tmp_path / "t", "elsewhere", repeat=2)
    assert faultlab("run", "t", "--env", "sim", "--out", "other", cwd=tmp_path).code == 0
    empty = tmp_path / "empty"
    empty.mkdir()
    for name in ("manifest.json", "runs.jsonl"):
        (empty / name).write_bytes((suites / "was" / name).read_bytes() if name == "manifest.json" else b"")
    file = tmp_path / "gate.xml"
    done = gate(suites, "--baseline", empty, "--current", tmp_path / "other", "--junit", file, **GITHUB)
    assert done.code == 5, done.out
    assert commands(done) == ["::warning title=nothing-compared::the two have no case in common"]
    SCHEMA.validate(str(file))
    assert fromstring(file.read_bytes()).get("errors") == "1"


def test_a_run_of_the_gate_folds_and_is_not_annotated_by_itself(suites: Path, tmp_path: Path) -> None:
    """Its expectations may fail now as they failed then: only what the gate makes of it is news."""
    folder = tmp_path
    write_scenario(folder / "s", "failing", formula="Net.ReadTimeout + 2*Net.DialTimeout", repeat=6)
    assert faultlab("run", "s", "--env", "sim", "--out", "was", cwd=folder).code == 1
    page = folder / "page.md"
    done = gate(folder, "--run", "--baseline", "was", **GITHUB, GITHUB_STEP_SUMMARY=str(page))
    assert done.code == 0, done.out + done.err
    assert commands(done) == ["::group::the runs", "::endgroup::"]
    inside = done.out.partition("::group::the runs")[2].partition("::endgroup::")[0]
    assert "FAILED  6 failed" in inside
    assert page.read_text().startswith("### faultlab gate: UNCHANGED")
    assert page.read_text().count("### ") == 1
    told = gate(folder, "--run", "--baseline", "was", "--json", **GITHUB)
    assert told.out.startswith("{")
    assert "::group::the runs" in told.err


def test_a_file_that_cannot_be_written_fails_the_job_unless_it_regressed(suites: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    beyond = tmp_path / "file" / "gate.xml"
    done = gate(suites, "--baseline", "was", "--current", "was", "--junit", beyond, **GITHUB)
    assert done.code == 3
    assert "::error title=faultlab::cannot write" in done.err
    assert gate(suites, "--baseline", "was", "--current", "is", "--junit", beyond).code == 10
    refused = gate(suites, "--update", "--current", "was", "--junit", "x.xml")
    assert refused.code == 4
    assert "--junit writes a comparison, --update makes none" in refused.err


def test_compare_in_ci_says_the_same_on_the_page_of_the_job(suites: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    done = faultlab("compare", "was", "is", "--ci", cwd=suites, env={**GITHUB, "GITHUB_STEP_SUMMARY": str(page)})
    assert done.code == 0
    assert commands(done) == []
    block = page.read_text().removeprefix("### faultlab compare\n\n<pre>\n").removesuffix("\n</pre>\n\n")
    shown = block.replace("&#91;", "[").replace("&#93;", "]").replace("&#32;", "").replace("&#62;", ">")
    assert shown.splitlines() == [line.rstrip() for line in done.lines] or shown.splitlines() == done.lines
