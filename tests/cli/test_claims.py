"""Protects how claims are counted: one that several scenarios make is one, on the terminal as on the page."""

from pathlib import Path

import pytest
from command_line import faultlab, write_scenario

TWICE = "2*Net.ReadTimeout"


def two_scenarios(folder: Path) -> None:
    """Both refute one claim; the first holds two more, of which the second makes one where it says nothing."""
    first, second = (write_scenario(folder, name, claim=TWICE) for name in ("first", "second"))
    of = "claim: {}, within: 1% + 50ms, holds: {}, source: an article"
    made = f"measure: probe.time_to_error, {of.format(TWICE, 'false')}"
    for path, more in (
        (first, ["name: of-dials, measure: probe.dials, claim: 0, holds: true, source: an article",
                 f"measure: probe.time_to_error, {of.format('Net.ReadTimeout', 'true')}"]),
        (second, [f"name: under-another-name, measure: probe.time_to_error, {of.format('Net.ReadTimeout', 'false')}"]),
    ):  # fmt: skip
        text = path.read_text()
        assert made in text
        path.write_text(text.replace("matrix:", "".join(f"  - {{{one}}}\n" for one in more) + "matrix:"))
    second.write_text(second.read_text().replace("claim: Net.ReadTimeout,", "claim: Net.ReadTimeout, when: 1s > 2s,"))


def test_a_claim_of_two_scenarios_is_one(tmp_path: Path) -> None:
    two_scenarios(tmp_path)
    done = faultlab("run", ".", "--env", "sim", cwd=tmp_path)
    assert done.code == 0, done.out + done.err
    assert "; claims as declared: 1 refuted, 2 held" in " ".join(done.out.split())
    told = [line for line in done.lines if line.startswith("claim ")]
    assert [" ".join(line.split()) for line in told] == [
        "claim REFUTED 2*Net.ReadTimeout 4.000 s 2.000 s",
        "claim HELD dials = 0 0 0",
        "claim HELD Net.ReadTimeout 2.000 s 2.000 s",
    ]
    assert "an article; refuted in 2 of 2 cases; declared `holds: false`" in done.out
    assert done.widest() <= 80


def test_a_claim_that_holds_in_one_scenario_only_is_neither(tmp_path: Path) -> None:
    write_scenario(tmp_path, "first", claim="2s", holds="true")
    second = write_scenario(tmp_path, "second", claim="2s", holds="false")
    second.write_text(second.read_text().replace("Net.ReadTimeout: 2s", "Net.ReadTimeout: 3s"))
    done = faultlab("run", ".", "--env", "sim", cwd=tmp_path)
    assert done.code == 0, done.out + done.err
    assert "; claims as declared: 1 held in some cases only" in " ".join(done.out.split())
    (told,) = [line for line in done.lines if line.startswith("claim ")]
    assert " ".join(told.split()) == "claim MIXED 2s 2.000 s 3.000 s"
    assert "an article; refuted in 1, held in 1 of 2 cases" in done.out


@pytest.mark.slow
@pytest.mark.spark
def test_the_page_counts_as_the_terminal_does(tmp_path: Path) -> None:
    two_scenarios(tmp_path)
    done = faultlab("run", ".", "--env", "sim", "--out", "r", "--report", cwd=tmp_path)
    assert "; claims as declared: 1 refuted, 2 held" in " ".join(done.out.split())
    page = (tmp_path / "r" / "report.html").read_text()
    assert "3 published formulas: 1 refuted, 2 held." in page
    assert "3 claims: 1 refuted, 2 held; all as declared." in page
