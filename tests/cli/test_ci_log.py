"""Protects a job's log: groups are closed, annotations are escaped as GitHub's toolkit does, nobody else's text is
obeyed, and a summary stays below GitHub's limit."""

import io
import re
from pathlib import Path

import pytest

from cli.ci import Annotation, LogStream, System, append_summary, detect_system, group, sanitized, write_annotation
from cli.ci.step_summary import MAX_SUMMARY_BYTES


def test_the_system_is_known_by_the_variable_that_it_sets() -> None:
    assert detect_system({"GITHUB_ACTIONS": "true"}) is System.GITHUB
    assert detect_system({"GITLAB_CI": "true", "CI": "true"}) is System.GITLAB
    assert detect_system({"GITHUB_ACTIONS": "false", "CI": "true"}) is System.OTHER


@pytest.mark.parametrize("system", list(System))
def test_a_group_is_closed_when_its_block_breaks_off(system: System) -> None:
    log = io.StringIO()
    with pytest.raises(KeyError), group(LogStream(log), "two  words\nand 100%", system):
        raise KeyError
    first, *_, last = log.getvalue().splitlines()
    if system is System.GITHUB:
        assert (first, last) == ("::group::two words and 100%25", "::endgroup::")
    elif system is System.OTHER:
        assert (first, last) == ("== two words and 100%", "")
    else:
        text = log.getvalue()
        begin = re.match(r"\x1b\[0Ksection_start:(\d{10}):(\w+)\[collapsed=true\]\r\x1b\[0Ktwo words and 100%\n", text)
        end = re.search(r"\x1b\[0Ksection_end:(\d{10}):(\w+)\r\x1b\[0K\n$", text)
        assert begin is not None
        assert end is not None
        assert begin[2] == end[2], "GitLab closes a section by its name"
        assert int(begin[1]) <= int(end[1])


def test_two_groups_of_one_title_have_names_of_their_own() -> None:
    log = io.StringIO()
    for _ in range(2):
        with group(LogStream(log), "same", System.GITLAB):
            pass
    assert len(set(re.findall(r"section_start:\d+:(\w+)", log.getvalue()))) == 2


def test_annotations_are_escaped_as_the_toolkit_does(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Source: actions/toolkit packages/core/src/command.ts, escapeData and escapeProperty."""
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    odd = Annotation(
        level="error", title="a:b,c", message="50% of\r\nit: x, y", file=Path("a,b:c%.yaml"), line=3, column=7
    )
    assert odd.command() == ("::error file=a%2Cb%3Ac%25.yaml,line=3,col=7,title=a%3Ab%2Cc::50%25 of%0D%0Ait: x, y")
    assert odd.one_line() == "a,b:c%.yaml:3:7: error[a:b,c]: 50% of it: x, y"
    assert Annotation(level="warning", title="t", message="m").command() == "::warning title=t::m"


def test_annotated_files_are_relative_to_the_checkout_wherever_the_command_runs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "checkout" / "lab").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "checkout" / "lab")
    there = {"GITHUB_WORKSPACE": str(tmp_path / "checkout")}

    def shown(file: Path) -> str:
        return Annotation(level="error", title="t", message="m", file=file, line=1).command(there)

    assert shown(Path("one.yaml")) == "::error file=lab/one.yaml,line=1,title=t::m"
    assert shown(tmp_path / "checkout" / "two.yaml") == "::error file=two.yaml,line=1,title=t::m"
    assert shown(Path("../../elsewhere.yaml")) == "::error title=t::m", "GitHub has no line to show it beside"


def test_gitlab_gets_the_line_alone() -> None:
    mistake = Annotation(level="error", title="t", message="m", file=Path("f"), line=1)
    for system, lines in ((System.GITLAB, 1), (System.GITHUB, 2), (System.OTHER, 2)):
        log = io.StringIO()
        write_annotation(LogStream(log), mistake, system)
        assert log.getvalue().splitlines()[0] == "f:1: error[t]: m"
        assert len(log.getvalue().splitlines()) == lines


@pytest.mark.parametrize(
    "text",
    [
        "::error::broken",
        "  ::add-mask::a",
        "said:\n::stop-commands::x",
        "x ##[command]rm",
        "\x1b[0Ksection_start:1:x\r\x1b[0K",
        "\u200a::set-env name=A::b",
    ],
)
def test_what_a_program_says_is_no_command(text: str) -> None:
    log = io.StringIO()
    LogStream(log).write(text)
    said = log.getvalue()
    assert not [line for line in said.splitlines() if line.strip().startswith("::")]
    assert "##[" not in said
    assert "\x1b" not in said
    assert "\r" not in said
    assert sanitized("a::b 1:2 # [x]\n\tc") == "a::b 1:2 # [x]\n\tc", "what nobody obeys stays as it is"


def test_a_summary_is_added_below_what_is_there(tmp_path: Path) -> None:
    file = tmp_path / "summary.md"
    there = {"GITHUB_STEP_SUMMARY": str(file)}
    assert append_summary("one", there) is None
    assert append_summary("two\n", there) is None
    assert file.read_text() == "one\n\ntwo\n\n"
    assert append_summary("x", {}) is None


def test_a_summary_is_cut_at_a_line_and_says_so(tmp_path: Path) -> None:
    file = tmp_path / "summary.md"
    there = {"GITHUB_STEP_SUMMARY": str(file)}
    file.write_text("before\n")
    assert append_summary("\n".join(["ä" * 999] * 1000), there) is None
    text = file.read_text()
    assert MAX_SUMMARY_BYTES - 2500 < file.stat().st_size <= MAX_SUMMARY_BYTES
    assert text.startswith("before\nää")
    assert text.endswith("ä\n\nCut at GitHub's limit of 1 MiB; the report has the rest.\n")
    size = file.stat().st_size
    assert append_summary("ä" * 3000, there) is None
    assert file.stat().st_size == size, "nothing is better than half a line"


def test_a_summary_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    told = append_summary("x", {"GITHUB_STEP_SUMMARY": str(tmp_path / "no" / "such.md")})
    assert told is not None
    assert "No such file or directory" in told
