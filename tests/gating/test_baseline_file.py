"""Protects the baseline file: it says the same as the folder it was made of, is made for a diff, and what is spoilt in
it is said."""

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest
import suites

from harness.comparing.floor import DEFAULT_FLOOR, parse_floor
from harness.gating.baseline import BaselineMismatch, baseline_text, merge_into_baseline, read_baseline, write_baseline
from harness.gating.gate import gate
from harness.gating.reading import read_suite_runs
from harness.records.folder import ResultsUnreadable, ResultsUnwritable


def folder(path: Path, *, time_s: float = 2.0, scenario: str = "dark") -> Path:
    runs = suites.repeated(
        suites.spread(time_s), scenario, counts={"probe.dials": 4, "run.lost": 0}, times={"outage.recovery": 0.5},
        settings={"Net.DialTimeout": "1s"}, parameters={"settings.Producer.Retry.Max": "3"},
    )  # fmt: skip
    runs += [
        suites.record(
            scenario, repeat=21, time_s=None, censored_s=60.0, parameters={"settings.Producer.Retry.Max": "3"}
        ),
        suites.record(scenario, repeat=22, proven=False, parameters={"settings.Producer.Retry.Max": "3"}),
    ]
    return suites.write_suite(path, runs)


def test_the_file_says_what_the_folder_said(tmp_path: Path) -> None:
    side = read_suite_runs(folder(tmp_path / "r"))
    file = tmp_path / "baseline.json"
    write_baseline(file, side, parse_floor("3% + 10ms"))
    back = read_suite_runs(file)
    assert back.cases == side.cases
    assert (back.machine, back.arguments, back.faultlab) == (side.machine, side.arguments, side.faultlab)
    assert str(back.floor) == "3% + 10ms"
    assert not gate(back, side).regressed
    assert baseline_text(back, parse_floor("3% + 10ms")) == file.read_text()


def test_one_line_a_measure_and_nothing_of_the_machines_paths(tmp_path: Path) -> None:
    side = read_suite_runs(folder(tmp_path / "r"))
    lines = baseline_text(side, DEFAULT_FLOOR).splitlines()
    (told,) = [line for line in lines if '"probe.time_to_error"' in line]
    assert json.loads("{" + told.strip().removesuffix(",") + "}")["probe.time_to_error"]["median_ms"] == 2000.5
    assert '"unended_ms": [60000.0]' in told
    assert [line.strip() for line in lines if "probe.dials" in line] == ['"probe.dials": {"4": 20},']
    assert '"Net.DialTimeout": "1s"' in [line.strip() for line in lines], "a setting that changes is one line"
    assert str(tmp_path) not in "\n".join(lines)


def test_only_what_changed_is_another_line(tmp_path: Path) -> None:
    was = baseline_text(read_suite_runs(folder(tmp_path / "a")), DEFAULT_FLOOR).splitlines()
    now = baseline_text(read_suite_runs(folder(tmp_path / "b", time_s=2.5)), DEFAULT_FLOOR).splitlines()
    differing = {before.split(":")[0].strip() for before, after in zip(was, now, strict=True) if before != after}
    assert differing == {'"probe.time_to_error"', '"probe.time_to_end"'}


def test_a_part_is_replaced_and_the_rest_is_kept(tmp_path: Path) -> None:
    one, two = (
        read_suite_runs(folder(tmp_path / "a", scenario="one")),
        read_suite_runs(folder(tmp_path / "b", scenario="two")),
    )
    both = replace(one, cases=(*one.cases, *two.cases))
    anew = read_suite_runs(folder(tmp_path / "c", scenario="two", time_s=3.0))
    whole = merge_into_baseline(both, anew, ("two",))
    assert list(whole.cases) == [*one.cases, *anew.cases]
    with pytest.raises(BaselineMismatch, match="made on another machine"):
        merge_into_baseline(both, replace(anew, machine="another"), ("two",))


def block(text: str) -> str:
    """The one case of the file."""
    return text.partition('"cases": [\n')[2].rpartition("\n  ]")[0]


SPOILT = [
    ("not JSON", lambda text: text[:-30], "is no baseline"),
    ("a list", lambda text: "[]", "is no baseline"),
    ("no cases", lambda text: text.replace('"cases"', '"casez"'), "cases: Field required"),
    ("a word for a time", lambda text: text.replace('"ms": [1990.5', '"ms": ["soon"'), "cases.0.times"),
    ("not a number", lambda text: text.replace('"ms": [1990.5', '"ms": [NaN'), "is no baseline"),
    ("an unknown happening", lambda text: text.replace('"hangs probe"', '"sings probe"'), "sings"),
    ("a count that is none", lambda text: text.replace('{"4": 20}', '{"four": 20}'), "four"),
    ("a floor that is none", lambda text: text.replace("5% + 20ms", "a lot"), "floor"),
    ("a newer one", lambda text: text.replace('"format": 1', '"format": 2'), "written by a newer faultlab"),
    (
        "a newer one that this one does not understand",
        lambda text: text.replace('"format": 1', '"format": 2').replace('"local"', '"orbit"'),
        "written by a newer faultlab",
    ),
    ("a name for a terminal", lambda text: text.replace('"dark"', '"dark\\u001b[2J"'), "cannot be printed"),
    ("the case is named", lambda text: text.replace('"counted": 21', '"counted": 23'), "the case of dark"),
    ("more runs than there were", lambda text: text.replace('{"4": 20}', '{"4": 2000000000}'), "more runs than"),
    ("a case twice", lambda text: text.replace('"cases": [\n', '"cases": [\n' + block(text) + ",\n"), "twice"),
    ("fewer than none", lambda text: text.replace('"counted": 21', '"counted": -1'), "counted"),
]


@pytest.mark.parametrize(("spoil", "said"), [one[1:] for one in SPOILT], ids=[one[0] for one in SPOILT])
def test_what_is_spoilt_is_said_and_never_read_as_something_else(tmp_path: Path, spoil: object, said: str) -> None:
    file = tmp_path / "baseline.json"
    text = baseline_text(read_suite_runs(folder(tmp_path / "r")), DEFAULT_FLOOR)
    spoilt = spoil(text)  # type: ignore[operator]
    assert spoilt != text
    file.write_text(spoilt)
    with pytest.raises(ResultsUnreadable, match=said) as raised:
        read_baseline(file)
    assert str(file) in str(raised.value)
    assert raised.value.remedy


JUNK = [None, -1, 0, 1e308, "x", "", [], {}, True, [[]], "5%", 10**30, float("nan")]


def places(value: object, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, part in inside for place in places(part, (*path, key)))]


def test_whatever_is_put_into_it_it_is_refused_or_held(tmp_path: Path) -> None:
    """One value of the file is another one: either that is said, or the comparison goes through."""
    side = read_suite_runs(folder(tmp_path / "r"))
    text, file, chance = baseline_text(side, DEFAULT_FLOOR), tmp_path / "b.json", random.Random(5)
    refused = 0
    for place in places(json.loads(text))[1:]:
        document = inside = json.loads(text)
        for key in place[:-1]:
            inside = inside[key]
        inside[place[-1]] = chance.choice(JUNK)
        file.write_text(json.dumps(document))
        try:
            back = read_suite_runs(file)
        except ResultsUnreadable:
            refused += 1
            continue
        for gated in (gate(back, side), gate(side, back)):
            assert gated.compared or gated.silent or gated.lost or gated.new or gated.other_machine
    assert refused > 20


def test_what_is_no_text_is_said(tmp_path: Path) -> None:
    (tmp_path / "b.json").write_bytes(b"\xff\xfe{}")
    with pytest.raises(ResultsUnreadable, match="is no baseline"):
        read_suite_runs(tmp_path / "b.json")


def test_a_file_that_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    side = read_suite_runs(folder(tmp_path / "r"))
    with pytest.raises(ResultsUnwritable, match="cannot write"):
        write_baseline(tmp_path / "nowhere" / "baseline.json", side, DEFAULT_FLOOR)
    assert [path.name for path in tmp_path.iterdir()] == ["r"]


def test_no_text_of_a_program_reaches_a_terminal_as_a_command(tmp_path: Path) -> None:
    """A class of errors is what the program under test says; a baseline comes with a change that somebody proposes."""
    runs = suites.repeated(
        suites.spread(2.0), "dark", error_class="net\x1b[2J\n::error::Op", settings={"name": "a\tb\x07"}
    )
    side = read_suite_runs(suites.write_suite(tmp_path / "r", runs))
    text = baseline_text(side, DEFAULT_FLOOR)
    assert text.isascii() is False
    (tmp_path / "clean.json").write_text(text)
    assert read_suite_runs(tmp_path / "clean.json").cases == side.cases
    (tmp_path / "spoilt.json").write_text(text.replace("\N{REPLACEMENT CHARACTER}", "\\u001b"))
    for (case,) in (side.cases, read_suite_runs(tmp_path / "spoilt.json").cases):
        told = [*map(str, case.happened), *case.settings.values(), *case.reasons, *case.operations]
        assert any("Op" in one for one in told)
        assert all(one.isprintable() for one in told)
    assert not gate(read_suite_runs(tmp_path / "spoilt.json"), side).regressed
