"""Protects that whatever cites a formula can be explained without being listed, and which case a fault's name means."""

from importlib.resources import files
from pathlib import Path

import pytest

from harness.explaining import CaseCatalogue, case_catalogues
from harness.faults import FAULTS
from harness.language import Problems
from harness.language.formulas_file import FORMULAS_FILE, load_distributions

SCENARIOS = Path(str(files("scenarios")))
FORMULAS = """\
format: 1
formulas:
  pause:
    about: One pause.
    sum: [{term: Metadata.Retry.Backoff, meaning: the pause}]
    source: nowhere
  dials:
    about: A count.
    sum: [{term: Metadata.Retry.Max, meaning: dials}]
    source: nowhere
"""
SCENARIO = """\
format: 1
scenario: %(name)s
about: A port refuses.
tags: [%(tags)s]
client: {profile: sarama, version: 1.27.2}
cluster: {brokers: 1, topics: [{name: orders}]}
steps:
%(steps)s
expect:
%(expect)s
"""
AT_START = "  - {inject: refuse, as: outage}\n  - {do: connect, as: probe}"
LATER = "  - {do: connect}\n  - {inject: refuse, as: outage}\n  - {do: send, as: probe}"
PAUSE = "  - {measure: probe.time_to_error, equals: formula(pause), within: 1s}"
DIALS = "  - {measure: probe.dials, equals: formula(dials)}"


def write(folder: Path, name: str, *, steps: str = LATER, expect: str = PAUSE, tags: str = "x", more: str = "") -> None:
    folder.mkdir(exist_ok=True)
    (folder / "formulas.yaml").write_text(FORMULAS)
    text = SCENARIO % {"name": f"mine-{name}", "tags": tags, "steps": steps, "expect": expect} + more
    (folder / f"{name}.scenario.yaml").write_text(text)


def test_every_citation_of_a_time_is_a_case_and_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    write(folder, "both", expect=f"{PAUSE}\n{DIALS}")
    write(folder, "counted", expect=DIALS)
    write(folder, "unfaulty", steps="  - {do: connect, as: probe}")
    write(folder, "uncited", expect="  - {measure: probe.time_to_error, equals: 1s, within: 1s}")
    found = case_catalogues(tmp_path)["sarama"]
    assert [case.name for case in found.cases] == ["both"]
    case = found.cases[0]
    assert (case.scenario, case.faults, case.cells) == ("mine-both", ("refuse",), 1)
    assert [(cited.formula.name, cited.index) for cited in case.cited] == [("pause", 0)]


def test_a_fault_means_the_case_of_a_running_client_that_is_tried_most(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    write(folder, "a-slow", tags="slow", more="matrix: {settings.Producer.Retry.Max: [0, 1, 2, 3]}\n")
    write(folder, "b-start", steps=AT_START, more="matrix: {settings.Producer.Retry.Max: [0, 1, 2, 3]}\n")
    write(folder, "c-once")
    write(folder, "d-often", more="matrix: {settings.Producer.Retry.Max: [0, 1]}\n")
    found = case_catalogues(tmp_path)["sarama"]
    assert [case.name for case in found.ranked()] == ["d-often", "c-once", "b-start", "a-slow"]
    assert {case.name for case in found.cases_for("refuse")} == {"a-slow", "b-start", "c-once", "d-often"}
    assert [case.name for case in found.cases_for("b-start")] == ["b-start"]
    assert [case.name for case in found.cases_for("mine-b-start")] == ["b-start"]
    assert found.cases_for("b") == ()


def test_every_fault_that_there_is_can_be_explained(sarama: CaseCatalogue) -> None:
    assert set(sarama.faults) == set(FAULTS)


def test_every_distribution_has_a_scenario_that_makes_it_happen() -> None:
    for client, catalogue in case_catalogues(SCENARIOS).items():
        written = load_distributions(SCENARIOS / client / FORMULAS_FILE)
        assert {one.distribution.name for one in catalogue.by_chance} == set(written), client


def test_the_bundled_faults_begin_with_what_befalls_a_running_client(sarama: CaseCatalogue) -> None:
    assert sarama.faults[0] == "blackhole"
    first = next(case for case in sarama.ranked() if "blackhole" in case.faults)
    assert first.name == "blackhole-established"
    assert not first.at_start
    assert sarama.cases_for("bootstrap-blackhole")[0].at_start


def test_a_file_that_cannot_be_read_is_said_with_its_place(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    write(folder, "one")
    (folder / "two.scenario.yaml").write_text("steps: [")
    with pytest.raises(Problems) as caught:
        case_catalogues(tmp_path)
    assert caught.value.problems[0].path == folder / "two.scenario.yaml"
