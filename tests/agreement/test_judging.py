"""Protects the matrix: which runs are one case, what of them is compared, and that nothing but measured runs agrees.

The runs are simulated ones; those of the other sides are the same with their environment and driver, and another time.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from harness.agreement import agreement_cases, evaluate_agreement, runs_needed_by_case
from harness.agreement.fidelity_page import fidelity_page
from harness.agreement.known_differences import DifferencesUnreadable
from harness.conductor import conduct
from harness.environments.sim.environment import SimEnvironment
from harness.judging import judge
from harness.language import load, plans
from harness.records.run import RunRecord
from harness.suite.collection import bundled
from harness.suite.recording import run_record

RUNS = 14


def simulated(name: str, repeat: int = RUNS) -> list[RunRecord]:
    scenario = next(one for path in bundled() if (one := load(path)).name == name)
    world = SimEnvironment(conduct)
    found = []
    for plan in plans(scenario, environment="sim", seed=1, repeat=repeat):
        story = world.run(plan, lambda _: None, None)
        found.append(run_record(plan, story, judge(plan, story), started_at="", duration_s=0.0))
    return found


@pytest.fixture(scope="module")
def refused() -> list[RunRecord]:
    return simulated("sarama-bootstrap-refused")


def real(runs: Sequence[RunRecord], later_s: float = 0.0) -> list[RunRecord]:
    """The same runs, by the real client: a time of it so much later."""

    def moved(run: RunRecord) -> RunRecord:
        measures = tuple(
            one.model_copy(update={"value": one.value + later_s})
            if one.name == "probe.time_to_error" and one.value is not None
            else one
            for one in run.measures
        )
        return run.model_copy(
            update={"run_id": f"r{run.run_id}", "environment": "local", "driver": "real", "measures": measures}
        )

    return [moved(run) for run in runs]


def test_each_measure_of_each_cell_is_a_row(refused: list[RunRecord]) -> None:
    records = evaluate_agreement(agreement_cases([*refused, *real(refused)]))
    assert {record.outcome for record in records} == {"agrees"}
    assert len(records) == 4 * 3
    assert {record.unit for record in records} == {"s", "outcome", "count"}
    assert {record.measure for record in records} >= {"probe.time_to_error", "probe.outcome"}
    timed = next(record for record in records if record.unit == "s")
    assert [side.side for side in timed.sides] == ["real", "sim"]
    assert timed.predicted == pytest.approx(0.75)
    assert timed.compared[0].reference == "real"


def dialling(runs: Sequence[RunRecord], dials: int) -> list[RunRecord]:
    """The same runs, with so many dials of the probe in each."""

    def counted(run: RunRecord) -> RunRecord:
        measures = tuple(
            one.model_copy(update={"value": float(dials)}) if one.name == "probe.dials" else one for one in run.measures
        )
        return run.model_copy(update={"measures": measures})

    return [counted(run) for run in runs]


@pytest.mark.parametrize(
    ("dials", "others", "outcome"), [(3, 3, "agrees"), (3, 4, "differs"), (40, 41, "agrees"), (40, 42, "differs")]
)
def test_dials_are_compared_though_nothing_is_expected_of_them(dials: int, others: int, outcome: str) -> None:
    moved = simulated("sarama-leader-moved")
    records = evaluate_agreement(agreement_cases([*dialling(moved, others), *real(dialling(moved, dials))]))
    assert {record.outcome for record in records if record.measure == "probe.dials"} == {outcome}


@pytest.mark.parametrize(("later_s", "outcome"), [(0.04, "agrees"), (0.09, "differs"), (-0.09, "differs")])
def test_fifty_milliseconds_and_two_percent_decide(refused: list[RunRecord], later_s: float, outcome: str) -> None:
    records = evaluate_agreement(agreement_cases([*refused, *real(refused, later_s)]))
    assert {record.outcome for record in records if record.unit == "s"} == {outcome}
    assert {record.outcome for record in records if record.unit != "s"} == {"agrees"}


def spoilt(run: RunRecord) -> RunRecord:
    return run.model_copy(update={"verdict": "inconclusive", "reasons": ("no packet was dropped",)})


def few(runs: list[RunRecord]) -> list[RunRecord]:
    return [run for run in runs if run.repeat <= 2]


@pytest.mark.parametrize("change", [lambda runs: [spoilt(run) for run in runs], few])
def test_what_was_not_measured_does_not_agree(
    refused: list[RunRecord], change: Callable[[list[RunRecord]], list[RunRecord]]
) -> None:
    records = evaluate_agreement(agreement_cases([*refused, *real(change(refused))]))
    assert {record.outcome for record in records} == {"unsure"}
    assert runs_needed_by_case(records, most=60)
    assert all(0 < runs <= 60 for runs in runs_needed_by_case(records, most=60).values())


def test_a_race_seen_in_few_runs_gets_some_more_before_it_gets_many(refused: list[RunRecord]) -> None:
    spread = [run for shift_s in (0.0, 0.3) for run in real(few(refused), shift_s)]
    records = evaluate_agreement(agreement_cases([*few(refused), *spread]))
    made = max(side.runs for record in records for side in record.sides)
    assert min(runs_needed_by_case(records, most=300).values()) > 4 * made
    assert set(runs_needed_by_case(records, most=300, last_look=False).values()) == {4 * made}


def test_a_cell_of_one_side_is_not_compared(refused: list[RunRecord]) -> None:
    assert agreement_cases(refused) == ()
    other = [run.model_copy(update={"client_version": "1.60.2"}) for run in real(refused)]
    assert agreement_cases([*refused, *other]) == ()
    assert agreement_cases([*refused, *real(refused)], ("real", "profile")) == ()


def test_a_scenario_of_statistics_is_compared_way_by_way() -> None:
    """Its runs expect nothing by themselves: how long its last operation takes stands for it."""
    stale = simulated("sarama-stale-bootstrap", repeat=90)
    records = evaluate_agreement(agreement_cases([*stale, *real(stale)]))
    assert [record.measure for record in records] == ["probe.time_to_end", "probe.outcome", "probe.dials"]
    assert (records[0].outcome, records[0].compared[0].ways) == ("agrees", 3)


def test_the_page_tells_every_row_and_what_is_apart(refused: list[RunRecord]) -> None:
    text = fidelity_page(
        evaluate_agreement(agreement_cases([*refused, *real(refused, 0.09)])),
        command="faultlab agree",
        machine="a machine",
        made="2026",
    )
    assert "4 cases, 12 rows: 4 DIFFERS, 8 agrees" in text
    assert text.count("| sarama-bootstrap-refused |") == 4
    assert "0.840" in text
    assert "DIFFERS: sim: values at" in text


def written(folder: Path, text: str, runs: Sequence[RunRecord]) -> list[RunRecord]:
    """The runs, as of a scenario beside such a file of known differences."""
    (folder / "differences.yaml").write_text(text)
    return [run.model_copy(update={"path": str(folder / "x.scenario.yaml")}) for run in runs]


KNOWN = """\
differences:
  - scenario: sarama-bootstrap-refused
    measure: probe.time_to_error
    side: sim
    versions: [{version}]
    because: the simulation does without
    source: Linux net/ipv4/tcp.c
"""


def test_a_difference_whose_line_is_named_is_explained(refused: list[RunRecord], tmp_path: Path) -> None:
    both = written(tmp_path, KNOWN.format(version="1.60.1"), [*refused, *real(refused, 0.09)])
    timed = [record for record in evaluate_agreement(agreement_cases(both)) if record.unit == "s"]
    assert {(record.client_version, record.outcome) for record in timed} == {
        ("1.27.2", "differs"), ("1.60.1", "explained"),
    }  # fmt: skip
    told = next(record.compared[0] for record in timed if record.outcome == "explained")
    assert (told.reason, told.source) == ("the simulation does without", "Linux net/ipv4/tcp.c")
    alike = written(tmp_path, KNOWN.format(version="1.60.1"), [*refused, *real(refused)])
    assert {record.outcome for record in evaluate_agreement(agreement_cases(alike))} == {"agrees"}


@pytest.mark.parametrize(
    ("text", "told"),
    [("differences: [{scenario: x}]", "measure: Field required"), ("a: [", "is no YAML"), ("1.2", "valid dictionary")],
)
def test_a_file_of_differences_that_is_none_is_said(
    refused: list[RunRecord], tmp_path: Path, text: str, told: str
) -> None:
    both = written(tmp_path, text, [*refused, *real(refused)])
    with pytest.raises(DifferencesUnreadable, match=told):
        evaluate_agreement(agreement_cases(both))
