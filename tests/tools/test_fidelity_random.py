"""Protects what makes fidelity-random an honest test: draws that ask nobody, rejections that are counted, and rows that
agree only where runs of both sides say so."""

import sys
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from harness.agreement import agreement_cases, evaluate_agreement
from harness.conductor import conduct
from harness.environments.sim.environment import SimEnvironment
from harness.judging import judge
from harness.language import load, loads, plans
from harness.plan import PlannedFault, PlannedOperation, RunPlan
from harness.records.run import RunRecord
from harness.suite.recording import run_record
from tools.fidelity_random.clients import CLIENTS
from tools.fidelity_random.drawing import Draw, draws, is_drawn_by
from tools.fidelity_random.screening import MOST_REJECTED, screen
from tools.fidelity_random.verdict import by_scenario, report

DRAWN = 40


def loaded(draw: Draw) -> RunPlan:
    (cell,) = loads(draw.text, Path(f"{draw.name}.scenario.yaml")).cells
    return cell


def drawn(client: str) -> list[RunPlan]:
    """Every draw is a scenario that the lab takes."""
    return [loaded(one) for one in islice(draws(client, 11), DRAWN)]


def faults_of(plan: RunPlan) -> list[PlannedFault]:
    return [step for step in plan.steps if isinstance(step, PlannedFault)]


def judged(plan: RunPlan) -> list[PlannedOperation]:
    return [step for step in plan.steps if isinstance(step, PlannedOperation) and step.expect is None]


@pytest.mark.parametrize("client", CLIENTS)
def test_a_seed_draws_the_same_scenarios_again_and_another_seed_others(client: str) -> None:
    first, again, other = (list(islice(draws(client, seed), 5)) for seed in (1, 1, 2))
    assert first == again
    assert all(one.text != two.text for one, two in zip(first, other, strict=True))


@pytest.mark.parametrize("client", ["sarama", "sarama-guarded", "kafka-go"])
def test_draws_of_producers_compose(client: str) -> None:
    """Several faults, several messages at once, on several partitions, before and after the client is there."""
    plans = drawn(client)
    assert any(len(faults_of(plan)) > 1 for plan in plans)
    assert any(not faults_of(plan) for plan in plans), "dead addresses alone"
    assert any(isinstance(plan.steps[0], PlannedFault) for plan in plans)
    assert any(len({send.arguments.get("partition") for send in judged(plan)}) > 1 for plan in plans)
    assert any(sum(send.background for send in judged(plan)) > 1 for plan in plans)
    assert len({fault.fault.name for plan in plans for fault in faults_of(plan)}) > 12
    assert len({plan.client.version for plan in plans}) > 1
    assert len({plan.client.producer for plan in plans}) > 1


def test_draws_of_the_dialer_have_each_of_its_operations_and_limits() -> None:
    plans = drawn("kafka-go-dialer")
    asked = {step.operation for plan in plans for step in judged(plan)}
    assert asked == {"dial", "dial_leader", "dial_partition", "lookup_leader", "lookup_partition", "lookup_partitions"}
    assert {plan.client.version for plan in plans} == {"0.4.8", "0.4.9", "0.4.50"}
    given = {name for plan in plans for name in plan.given_settings}
    assert given >= {"Dialer.Timeout", "Dialer.Deadline", "Dialer.FallbackDelay", "Dialer.DialFunc", "Dialer.Resolver"}
    assert any(len(faults_of(plan)) > 1 for plan in plans)


@pytest.mark.parametrize("client", ["sarama-guarded", "kafka-go-dialer"])
def test_draws_strike_what_guards_the_way_in(client: str) -> None:
    plans = drawn(client)
    assert any(plan.cluster.tls and plan.cluster.sasl for plan in plans)
    assert {mechanism for plan in plans for mechanism in plan.cluster.sasl} > {"PLAIN"}
    assert {fault.fault.name for plan in plans for fault in faults_of(plan)} >= {"tls", "sasl", "dns"}


def simulated(path: Path, *, real: bool, repeat: int = 1) -> list[RunRecord]:
    """Runs of the simulation, in place of those of the real client or of the profile."""
    world, found = SimEnvironment(conduct), []
    for plan in plans(load(path), environment="sim", seed=1, repeat=repeat):
        story = world.run(plan, lambda _: None, None)
        run = run_record(plan, story, judge(plan, story), started_at="", duration_s=0.0)
        driver = "real" if real else "bundled"
        found.append(run.model_copy(update={"run_id": f"{real}{run.run_id}", "environment": "local", "driver": driver}))
    return found


SCENARIO = """\
format: 1
scenario: {name}
about: Drawn by hand.
client: {{profile: sarama, version: 1.27.2, bootstrap: [1]}}
settings: {{Net.ReadTimeout: 500ms, Producer.Retry.Max: 0}}
cluster: {{brokers: 2, topics: [{{name: orders, leaders: [1]}}]}}
steps:
  - {{do: connect, expect: ok}}
  - {{do: send, as: warm, expect: acknowledged}}
  - {{inject: blackhole, as: first, brokers: [{broker}]}}
  - {{do: send, as: a0, give_up_after: 60s}}
expect:
  - {{measure: a0.time_to_end, at_most: 60s, name: ends, source: drawn by hand}}
"""


def by_hand(name: str, broker: int) -> Draw:
    """The client never speaks to broker 2."""
    return Draw(name, SCENARIO.format(name=name, broker=broker))


def real_runs(files: Sequence[Path], _: int) -> Sequence[RunRecord]:
    return [run for path in files for run in simulated(path, real=True)]


def test_what_tests_nothing_is_rejected_by_reason_and_another_is_drawn(tmp_path: Path) -> None:
    hand = [by_hand("met", 1), by_hand("unmet", 2), Draw("wrong", "format: 1\n"), by_hand("later", 1)]
    found = screen(iter(hand), 2, tmp_path, real_runs)
    assert [path.name for path in found.accepted] == ["met.scenario.yaml"]
    assert set(found.rejected) == {"unmet", "wrong"}
    assert (tmp_path / "rejected" / "unmet.scenario.yaml").exists()
    assert not found.enough
    told = "\n".join(found.lines())
    assert "nothing was tested" in told
    assert "refused: " in told
    assert "unmet" in told


def test_no_more_are_drawn_than_may_be_rejected(tmp_path: Path) -> None:
    asked = 8
    found = screen((by_hand(f"unmet-{n}", 2) for n in range(100)), asked, tmp_path, real_runs)
    assert not found.accepted
    assert len(found.rejected) == asked / (1 - MOST_REJECTED)
    assert not found.enough


def test_screening_comes_to_the_same_where_it_is_gone_on_with(tmp_path: Path) -> None:
    hand = [by_hand("unmet", 2), by_hand("met", 1), by_hand("later", 1)]
    assert screen(iter(hand), 2, tmp_path, real_runs) == screen(iter(hand), 2, tmp_path, real_runs)
    assert not (tmp_path / "scenarios" / "unmet.scenario.yaml").exists()


@pytest.mark.parametrize("place", ["scenarios", "rejected"])
def test_a_folder_is_gone_on_with_by_the_client_and_seed_that_its_scenarios_are_drawn_by(
    tmp_path: Path, place: str
) -> None:
    (tmp_path / place).mkdir()
    next(draws("sarama", 1)).write(tmp_path / place)
    assert is_drawn_by("sarama", 1, tmp_path)
    assert not is_drawn_by("sarama", 2, tmp_path)
    assert not is_drawn_by("kafka-go", 1, tmp_path)


@pytest.fixture(scope="module")
def met(tmp_path_factory: pytest.TempPathFactory) -> list[RunRecord]:
    """Runs of both sides that do the same."""
    path = by_hand("met", 1).write(tmp_path_factory.mktemp("met"))
    return [*simulated(path, real=True, repeat=13), *simulated(path, real=False, repeat=13)]


def compared(found: Sequence[RunRecord]) -> bool:
    return report(by_scenario(evaluate_agreement(agreement_cases(found))), asked=1)


def test_a_scenario_agrees_where_every_row_does(met: list[RunRecord], capsys: pytest.CaptureFixture[str]) -> None:
    assert compared(met)
    assert "ok    met" in capsys.readouterr().out


def test_runs_that_tell_nothing_do_not_agree_with_runs_that_do(
    met: list[RunRecord], capsys: pytest.CaptureFixture[str]
) -> None:
    real, profile = met[:13], met[13:]
    mute = [run.model_copy(update={"verdict": "inconclusive", "reasons": ("met nothing",)}) for run in profile * 2]
    assert not compared([*real, *profile, *mute])
    assert "APART met" in capsys.readouterr().out


def test_a_difference_that_is_explained_is_no_agreement(
    met: list[RunRecord], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known = "{scenario: met, measure: a0.time_to_end, side: profile, because: known, source: broker.go}"
    (tmp_path / "differences.yaml").write_text(f"differences: [{known}]\n")
    here = [run.model_copy(update={"path": str(tmp_path / "met.scenario.yaml")}) for run in met]
    assert not compared([*here[:13], *(later(run) for run in here[13:])])
    assert "explained" in capsys.readouterr().out


def later(run: RunRecord) -> RunRecord:
    moved = [one.model_copy(update={"value": 9.0}) if one.name == "a0.time_to_end" else one for one in run.measures]
    return run.model_copy(update={"measures": tuple(moved)})


def test_scenarios_that_were_not_compared_do_not_count_as_agreement() -> None:
    assert not report([], asked=1)
