"""Protects what a terminal tells of limits: each expectation in a row of its own, the violated first and the farthest
off first of these, and the settings that took the time, with no limit among the terms of a formula."""

import json
import re
from pathlib import Path

import pytest
from command_line import Done, faultlab, write_scenario

MORE = """\
  - {name: soon, measure: probe.time_to_error, at_most: 1900ms}
  - {name: at-once, measure: probe.time_to_error, at_most: 5ms}
  - {measure: probe.dials, at_most: 500}
"""


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> Done:
    """A formula that holds, two limits that do not, and one that nobody comes near to."""
    folder = tmp_path_factory.mktemp("limited")
    path = write_scenario(folder, repeat=2)
    text = path.read_text()
    assert "expect:\n" in text
    path.write_text(text.replace("expect:\n", f"expect:\n{MORE}"))
    done = faultlab("run", ".", "--env", "sim", "--out", "r", cwd=folder)
    assert done.code == 1, done.out + done.err
    assert done.widest() <= 80
    return done


def entries(done: Done) -> list[tuple[str, str]]:
    """Verdict and measure of each expectation, in the order of the block."""
    block = done.out[done.out.index("\nFAIL  dark  at-once") : done.out.index("\n  replay")]
    return re.findall(r"^(FAIL|pass)  dark  (\S+(?: \S+)?) +dark\.scenario\.yaml:\d+$", block, flags=re.MULTILINE)


def test_every_expectation_has_a_row_the_violated_first_the_farthest_off_first(limited: Done) -> None:
    assert entries(limited) == [
        ("FAIL", "at-once: probe.time_to_error"), ("FAIL", "soon: probe.time_to_error"),
        ("pass", "probe.dials"), ("pass", "probe.time_to_error"),
    ]  # fmt: skip
    told = " ".join(limited.out.split())
    assert "at_most: 5ms expected ≤ 0.005 s measured 2.000 s +1.995 s runs 2.000 2.000" in told
    assert "equals: Net.ReadTimeout, within: 1% + 50ms expected 2.000 s ± 0.070 measured 2.000 s" in told
    table = limited.out[limited.out.index("scenario  client") :]
    rows = re.findall(r"^ +(FAIL|pass) +:(\d+) (\S+)", table, flags=re.MULTILINE)
    assert [(word, int(line)) for word, line, _ in rows] == [("FAIL", 17), ("FAIL", 16), ("pass", 18), ("pass", 19)]


def test_a_limit_is_explained_by_the_settings_that_took_the_time(limited: Done) -> None:
    block = limited.out[limited.out.index("\nFAIL  dark  at-once") : limited.out.index("\n  replay")]
    assert "  2.000 s of 2.000 s is Net.ReadTimeout, 1 x 2 s\n" in block
    assert "extra" not in block
    assert "no term" not in block, "a limit has no terms"
    assert re.search(r"\^ 0\.005 limit ", block), "the strip shows where the limit lies"


def test_programs_read_the_bounds_too(tmp_path: Path) -> None:
    write_scenario(tmp_path, formula="2*Net.ReadTimeout")
    done = faultlab("run", ".", "--env", "sim", "--json", cwd=tmp_path)
    [case] = json.loads(done.out)["cases"]
    finding = case["findings"][0]
    assert (finding["name"], finding["bound"]) == ("", "equals: 2*Net.ReadTimeout, within: 1% + 50ms")
    assert finding["off"] == pytest.approx(-2.0, abs=0.01)
