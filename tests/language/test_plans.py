"""Protects runs' identities: the same run has the same id and seed everywhere, and any change makes another run."""

import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from harness.faults.blackhole import Blackhole
from harness.language import Problems, Scenario, identity, loads, plans
from harness.plan import PlannedFault, PlannedOperation, RunPlan, StartCondition

MATRIX = (
    "\nmatrix: {settings.Producer.Retry.Max: [0, 1], cluster.brokers: [1, 3], outage.brokers: [all, [1]]}\nrepeat: 2"
)
END = "within: 1% + 50ms}"


@pytest.fixture
def scenario(changed: Callable[..., object]) -> Scenario:
    found = changed((END, END + MATRIX)).load()
    assert isinstance(found, Scenario)
    return found


def test_a_matrix_is_a_product_and_repeats_stand_together(scenario: Scenario) -> None:
    made = plans(scenario, environment="sim", seed=7)
    assert len(made) == 2 * 2 * 2 * 2
    assert [plan.repeat for plan in made[:4]] == [1, 2, 1, 2]
    assert [tuple(p.text for p in plan.parameters) for plan in made[::2]][:3] == [
        ("0", "1", "all"), ("0", "1", "[1]"), ("0", "3", "all"),
    ]  # fmt: skip
    last = made[-1]
    assert last.cluster.brokers == 3
    assert next(s.value for s in last.settings if s.name == "Producer.Retry.Max") == 1.0
    assert last.steps[1] == PlannedFault(fault=Blackhole(brokers=(1,)), alias="outage", line=10)


def test_run_ids_are_stable_and_distinct(scenario: Scenario) -> None:
    first = plans(scenario, environment="sim", seed=7)
    again = plans(scenario, environment="sim", seed=7)
    assert [p.run_id for p in first] == [p.run_id for p in again]
    assert len({p.run_id for p in first}) == len(first)
    assert all(len(p.run_id) == 12 and int(p.run_id, 16) >= 0 for p in first)
    assert {p.run_id for p in first}.isdisjoint(p.run_id for p in plans(scenario, environment="local", seed=7))
    assert {p.run_id for p in first}.isdisjoint(p.run_id for p in plans(scenario, environment="sim", seed=8))


@pytest.mark.parametrize(
    ("environment", "first", "last"),
    [
        ("sim", ("901bfc0fcf97", 238225816404734), ("0cde1dc68030", 269307281230484)),
        ("local", ("1620de0c0478", 238225816404734), ("abb13cd790c0", 269307281230484)),
    ],
)
def test_identities_are_those_of_earlier_results(
    scenario: Scenario, environment: str, first: tuple[str, int], last: tuple[str, int]
) -> None:
    """Results that lie on disks are resumed, replayed and compared by these: they change only with what they hash."""
    made = plans(scenario, environment=environment, seed=7)
    assert [(plan.run_id, plan.seed) for plan in (made[0], made[-1])] == [first, last]


def test_identities_of_the_library_are_those_of_earlier_results(scenario: Scenario) -> None:
    real = tuple(replace(cell, client=replace(cell.client, real=True)) for cell in scenario.cells)
    made = plans(replace(scenario, cells=real), environment="local", seed=11)
    assert [(plan.run_id, plan.seed) for plan in (made[0], made[-1])] == [
        ("d904d4053000", 33740969790564), ("a200ef1c7980", 35305236598356),
    ]  # fmt: skip


def test_an_identity_is_the_hash_of_the_whole_plan(scenario: Scenario) -> None:
    """It is put together from what repeats share and what is their own."""
    for plan in plans(scenario, environment="local", seed=7):
        assert plan.run_id == identity(plan)


def test_a_comment_or_another_folder_changes_no_run(changed: Callable[..., object], scenario: Scenario) -> None:
    text = changed((END, END + MATRIX)).text  # type: ignore[attr-defined]
    moved = loads("# a comment\n\n" + text, Path("elsewhere/test.scenario.yaml"))
    ids = [p.run_id for p in plans(moved, environment="sim", seed=7)]
    assert ids == [p.run_id for p in plans(scenario, environment="sim", seed=7)]


@pytest.mark.parametrize(
    "change", [("Net.WriteTimeout: 3s", "Net.WriteTimeout: 4s"), ("give_up_after: 60s", "give_up_after: 61s"),
               ("brokers: all, as", "brokers: all, flows: [to_broker], as"), ("2*Net.Read", "3*Net.Read")],
)  # fmt: skip
def test_any_other_change_makes_another_run(changed: Callable[..., object], change: tuple[str, str]) -> None:
    before, after = changed().load(), changed(change).load()  # type: ignore[attr-defined]
    ids = [plans(one, environment="sim", seed=7)[0].run_id for one in (before, after)]
    assert ids[0] != ids[1]


def test_seeds_differ_by_run_and_are_the_same_in_every_environment(scenario: Scenario) -> None:
    sim, local = (plans(scenario, environment=name, seed=7) for name in ("sim", "local"))
    assert [p.seed for p in sim] == [p.seed for p in local]
    assert len({p.seed for p in sim}) == len(sim)
    assert all(0 <= p.seed < 2**48 for p in sim)


def test_plans_can_cross_into_another_process(scenario: Scenario) -> None:
    made = plans(scenario, environment="sim", seed=7)
    assert pickle.loads(pickle.dumps(made)) == made


def test_repeat_overrides_the_scenarios_own(scenario: Scenario) -> None:
    assert len(plans(scenario, environment="sim", seed=7, repeat=1)) == 8
    with pytest.raises(ValueError, match="at least 1"):
        plans(scenario, environment="sim", seed=7, repeat=0)


def test_times_and_defaults_are_filled_in(changed: Callable[..., object]) -> None:
    cell = changed(
        ("as: probe, give_up_after: 60s}", "as: probe, at: outage+3s}\n  - {heal: outage, after: 5s}"),
        ("as: outage}", "as: outage, for: 20s}"),
        ("2*Net.ReadTimeout", "50*Net.ReadTimeout"),
    ).load().cells[0]  # type: ignore[attr-defined]  # fmt: skip
    probe = next(step for step in cell.steps if isinstance(step, PlannedOperation) and step.alias == "probe")
    assert probe.when == StartCondition(alias="outage", after_s=3.0)
    assert probe.give_up_after_s == 200.0, "twice what its formula predicts"
    assert cell.expected_s == pytest.approx(3 + 100 + 5)
    assert cell.limit_s == pytest.approx(60 + 3 + 200 + 5 + 30)
    assert cell.given_settings == ("Net.DialTimeout", "Net.ReadTimeout", "Net.WriteTimeout", "Producer.Retry.Max")
    assert {s.name: s.text for s in cell.settings}["Metadata.Retry.Backoff"] == "250ms"


def test_a_limit_predicts_nothing_and_is_waited_for(changed: Callable[..., object]) -> None:
    expected = "equals: 2*Net.ReadTimeout, within: 1% + 50ms"
    hasty = ("as: probe, give_up_after: 60s}", "as: probe}")
    cell = changed(hasty, (expected, "at_most: 500s")).load().cells[0]  # type: ignore[attr-defined]
    assert cell.predicted_s is None, "nobody says that it takes so long"
    assert next(step.give_up_after_s for step in cell.steps if step.alias == "probe") == 1000.0
    both = changed((END, END + "\n  - {measure: probe.time_to_error, at_most: 50s}")).load()  # type: ignore[attr-defined]
    assert both.cells[0].predicted_s == both.longest_s == 4.0


def test_a_bound_is_kept_as_it_is_written(changed: Callable[..., object]) -> None:
    more = """
  - measure: probe.time_to_error
    at_most: 5s
      + 1s
  - {measure: probe.dials, at_least: 3}
  - {measure: probe.time_to_error, equals: formula(established_blackhole), within: 50ms}
  - {mean: probe.time_to_error, at_most: 9s, within: 5%}
"""
    cell = changed((END, END + more)).load().cells[0]  # type: ignore[attr-defined]
    assert [one.bound for one in (*cell.expectations, *cell.statistics)] == [
        "equals: 2*Net.ReadTimeout, within: 1% + 50ms", "at_most: 5s + 1s", "at_least: 3",
        "equals: formula(established_blackhole), within: 50ms", "at_most: 9s, within: 5%",
    ]  # fmt: skip


def test_a_program_of_the_users_has_settings_by_their_looks(tmp_path: Path, changed: Callable[..., object]) -> None:
    program = tmp_path / "mine"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    text = changed(  # type: ignore[attr-defined]
        ("profile: sarama, version: 1.27.2", "driver: {exec: [./mine, --fast]}"),
        ("Net.ReadTimeout: 2s", "Net.ReadTimeout: 2s, acks: all, idempotent: true"),
    ).text
    cell = loads(text, tmp_path / "a.scenario.yaml").cells[0]
    assert (cell.client.driver, cell.client.name, cell.client.argv) == ("exec", "mine", ("./mine", "--fast"))
    units = {s.name: (s.unit, s.value) for s in cell.settings}
    assert units["Net.ReadTimeout"] == ("s", 2.0)
    assert units["acks"] == ("text", None)
    assert units["idempotent"] == ("bool", 1.0)


def test_a_program_is_looked_for_beside_the_scenario_wherever_one_stands(
    tmp_path: Path, changed: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = changed(("profile: sarama, version: 1.27.2", "driver: {exec: [./mine]}")).text  # type: ignore[attr-defined]
    with pytest.raises(Problems, match=r"no program `\./mine`"):
        loads(text, tmp_path / "a.scenario.yaml")
    (tmp_path / "mine").touch(mode=0o755)
    monkeypatch.chdir(tmp_path)
    for path in (tmp_path / "a.scenario.yaml", Path("a.scenario.yaml")):
        assert loads(text, path).cells[0].client.argv == ("./mine",)


def test_variables_that_a_program_is_passed_are_named_and_change_no_chance(
    tmp_path: Path, changed: Callable[..., object]
) -> None:
    def plan(driver: str) -> RunPlan:
        text = changed(("profile: sarama, version: 1.27.2", f"driver: {{exec: [./mine]{driver}}}")).text  # type: ignore[attr-defined]
        (made, *_) = plans(loads(text, tmp_path / "a.scenario.yaml"), environment="local", seed=7, repeat=1)
        return made

    (tmp_path / "mine").touch(mode=0o755)
    without, named = plan(""), plan(', pass_env: [ORDERS_TOKEN, "OTEL_*"]')
    assert (without.client.pass_env, named.client.pass_env) == ((), ("ORDERS_TOKEN", "OTEL_*"))
    assert named.seed == without.seed
    assert named.run_id != without.run_id, "it is another run"
    assert plan(", pass_env: []").run_id == without.run_id
    with pytest.raises(Problems, match="not spelt as this has to be"):
        plan(', pass_env: ["TOKEN=x"]')
