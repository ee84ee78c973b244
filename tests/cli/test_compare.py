"""Protects `faultlab compare` on the command line: it shows what differs between two suites, and judges nothing."""

import json
from pathlib import Path

from command_line import faultlab
from gated import on_machine


def test_compare_shows_what_differs_and_judges_nothing(folder: Path) -> None:
    done = faultlab("compare", "was", "is", cwd=folder)
    assert done.code == 0
    assert done.widest() <= 80
    row = next(line for line in done.lines if line.startswith("  time to error"))
    assert row.split()[3:6] == ["2.000", "3.000", "+1.000"]
    (told,) = [line for line in done.lines if "Net.ReadTimeout 2s -> 3s" in line]
    assert told.endswith("in all 2 cases"), "what is so in every case is said once"
    same = faultlab("compare", "was", "was", cwd=folder)
    assert same.code == 0
    assert "unchanged  2 cases" in same.out
    assert "dark" not in same.out, "cases in which nothing differs are counted, not shown"
    document = json.loads(faultlab("compare", "was", "is", "--json", cwd=folder).out)
    assert len(document["differing"]) == 2
    assert document["differing"][0]["settings"] == ["Net.ReadTimeout 2s -> 3s"]


def test_compare_pairs_releases_and_says_what_cannot_be_compared(folder: Path) -> None:
    dark = folder / "s" / "dark.scenario.yaml"
    dark.write_text(dark.read_text().replace("1.27.2", "1.60.1").replace("equals: Net.ReadTimeout", "at_least: 1s"))
    done = faultlab("run", "s/dark.scenario.yaml", "--env", "sim", "--out", "newer", cwd=folder)
    assert (folder / "newer" / "runs.jsonl").exists(), done.err
    on_machine(folder / "was", "One CPU")
    shown = faultlab("compare", "is", "newer", cwd=folder)
    assert shown.code == 0
    assert "dark  sarama 1.27.2 / 1.60.1" in shown.out
    assert "only in A  1 case: darker" in shown.out
    elsewhere = faultlab("compare", "was", "is", cwd=folder)
    assert elsewhere.code == 0
    assert "two machines: times differ for that reason too" in elsewhere.out
    assert "the two have no case in common" in elsewhere.out
    nothing = faultlab("compare", "is", "newer", "--only", "x", cwd=folder)
    assert nothing.code == 5
    assert "no scenario of is is called x: nothing to compare\n  its scenarios: dark, darker" in nothing.err
