"""Protects what a pull request shows of mistakes in scenarios: a line and an annotation each, and the summary."""

import re
from pathlib import Path

from command_line import faultlab, write_scenario

from cli.show.markdown import MAX_CHARACTERS, plain, table


def test_mistakes_are_one_line_and_one_annotation_each(tmp_path: Path) -> None:
    path = write_scenario(tmp_path / "lab")
    path.write_text(
        path.read_text().replace("repeat:", "repaet:").replace("Net.ReadTimeout: 2s", "Net.ReadTimeoot: 2s")
    )
    summary = tmp_path / "summary.md"
    runner = {"GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": str(tmp_path), "GITHUB_STEP_SUMMARY": str(summary)}
    for command in ("validate", "run"):
        summary.unlink(missing_ok=True)
        done = faultlab(command, "--ci", path.name, cwd=path.parent, env=runner)
        assert done.code == 4
        lines = done.err.splitlines()
        assert lines[0] == "dark.scenario.yaml:7:3: error[unknown-setting]: sarama has no setting Net.ReadTimeoot" + (
            " (did you mean Net.ReadTimeout?)"
        )
        assert lines[1] == (
            "::error file=lab/dark.scenario.yaml,line=7,col=3,endColumn=18,title=unknown-setting::"
            "sarama has no setting Net.ReadTimeoot (did you mean Net.ReadTimeout?)"
        )
        assert all(re.match(r"dark\.scenario\.yaml:\d+:\d+: error\[|::error file=lab/", line) for line in lines), (
            done.err
        )
        told = summary.read_text()
        assert told.startswith("### faultlab: ")
        assert ", nothing was started\n" in told
        assert "<code>dark.scenario.yaml:7:3</code>" in told
    gitlab = faultlab("validate", "--ci", path.name, cwd=path.parent, env={"GITLAB_CI": "true"})
    assert gitlab.code == 4
    assert "::" not in gitlab.err


def test_markdown_shows_texts_and_obeys_none() -> None:
    odd = "<b>|`x`*_[a](b)\\~#@me $1$\nnext \x1b[0m&amp;"
    assert re.sub(r"&#(\d+);", lambda found: chr(int(found[1])), plain(odd)) == " ".join(odd.split()).replace(
        "\x1b", "\ufffd"
    )
    assert not re.search(r"[<>|`*_\[\]\\~@$]", plain(odd))
    assert len(plain("x" * 10_000)) == MAX_CHARACTERS + 1
    assert table(("a", "b"), [(plain("1|2"), "")]) == "| a | b |\n| --- | --- |\n| 1&#124;2 |  |"
