"""Protects what a suite consists of: which files, which of their scenarios, and every mistake said before any start."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import pytest
from suite_samples import write_scenario

from harness.environments.world import Supported, Unsupported
from harness.language import Problems
from harness.levers import FilterPackets, Lever
from harness.suite.collection import ScenarioNotFound, bundled, collect
from harness.suite.planning import Selection, load_all, plan_all, select, unsupported_by


@dataclass
class Refusing:
    """An environment that makes no packet levers and starts no programs of the user's."""

    name: str = "sim"
    lanes: int = 1
    virtual_time: bool = True
    keeps_logs: bool = False

    def supports_cluster(self, kind: str) -> Supported | Unsupported:
        return Supported() if kind == "embedded" else Unsupported(f"run {kind} brokers")

    def supports(self, lever: Lever, cluster: str) -> Supported | Unsupported:
        return Unsupported("drop packets") if isinstance(lever, FilterPackets) else Supported()

    def supports_driver(self, driver: Literal["bundled", "exec"]) -> Supported | Unsupported:
        return Supported()

    def run(self, *_: object) -> object:
        raise AssertionError("planning starts nothing")


class Making(Refusing):
    def supports(self, lever: Lever, cluster: str) -> Supported | Unsupported:
        return Supported()


def test_no_words_mean_what_is_bundled_even_in_an_empty_folder(tmp_path: Path) -> None:
    found = collect([], folder=tmp_path)
    assert [one.path for one in found] == list(bundled())
    assert len(found) >= 5
    assert not any(one.named for one in found)


def test_words_are_files_folders_and_bundled_names(tmp_path: Path) -> None:
    mine = write_scenario(tmp_path / "deep" / "er", "mine")
    write_scenario(tmp_path / "deep" / ".hidden", "other")
    folder = collect(["deep"], folder=tmp_path)
    assert [(one.path, one.named) for one in folder] == [(mine, False)]
    both = collect(["deep", "deep/er/mine.scenario.yaml"], folder=tmp_path)
    assert [(one.path, one.named) for one in both] == [(mine, True)], "each once; naming it wins"
    assert [one.path for one in collect(["sarama"], folder=tmp_path)] == [
        path for path in bundled() if path.parent.name == "sarama"
    ]
    one = collect(["sarama-blackhole-established"], folder=tmp_path)
    assert [found.path.name for found in one] == ["blackhole-established.scenario.yaml"]
    assert one[0].named


def test_words_in_vain_name_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(ScenarioNotFound, match="called saramma; did you mean sarama"):
        collect(["saramma"], folder=tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(ScenarioNotFound, match=r"no scenario in empty, which is a folder; scenario files end in"):
        collect(["empty"], folder=tmp_path)
    write_scenario(tmp_path, "mine")
    with pytest.raises(Problems) as caught:
        collect(["./mime.scenario.yaml"], folder=tmp_path)
    assert "mine.scenario.yaml" in caught.value.problems[0].hint


def test_all_mistakes_of_all_files_come_at_once(tmp_path: Path) -> None:
    write_scenario(tmp_path, "one", formula="Net.Readtimeot")
    write_scenario(tmp_path, "two", formula="Net.ReadTimeout + 1")
    write_scenario(tmp_path, "three")
    with pytest.raises(Problems) as caught:
        load_all(collect(["."], folder=tmp_path))
    assert {problem.path.name for problem in caught.value.problems} == {"one.scenario.yaml", "two.scenario.yaml"}


def test_two_scenarios_of_one_name_are_refused(tmp_path: Path) -> None:
    write_scenario(tmp_path / "a", "same")
    write_scenario(tmp_path / "b", "same")
    with pytest.raises(Problems, match="scenario same is also in") as caught:
        load_all(collect(["."], folder=tmp_path))
    assert [(p.path.parent.name, p.line) for p in caught.value.problems] == [("b", 2)]


def test_slow_ones_are_left_out_unless_asked_for_and_never_on_virtual_time(tmp_path: Path) -> None:
    write_scenario(tmp_path, "quick")
    write_scenario(tmp_path, "long", tags="sarama, slow")
    whole = load_all(collect(["."], folder=tmp_path))
    named = load_all(collect(["long.scenario.yaml", "quick.scenario.yaml"], folder=tmp_path))

    def chosen(loaded: object, **selection: tuple[str, ...]) -> tuple[set[str], list[str]]:
        taken, skipped_slow = select(loaded, Selection(**selection), skip_slow=True)  # type: ignore[arg-type]
        return {scenario.name for scenario in taken}, skipped_slow

    assert chosen(whole) == ({"quick"}, ["long"])
    assert chosen(whole, tags=("slow",)) == ({"long"}, [])
    assert chosen(whole, only=("long",)) == ({"long"}, [])
    assert chosen(whole, only=("l*",)) == (set(), ["long"])
    assert chosen(named) == ({"quick", "long"}, [])
    assert chosen(whole, tags=("nothing",)) == (set(), [])
    everything = plan_all(whole, Selection(), Making(), seed=7, repeat=1)
    assert {scenario.name for scenario in everything.scenarios} == {"quick", "long"}
    on_real_time = plan_all(whole, Selection(), Making(virtual_time=False), seed=7, repeat=1)
    assert on_real_time.skipped_slow == ("long",)


def test_what_the_environment_refuses_is_said_at_its_line_once(tmp_path: Path) -> None:
    path = write_scenario(tmp_path, "dark", repeat=3)
    loaded = load_all(collect([str(path)], folder=tmp_path))
    with pytest.raises(Problems) as caught:
        plan_all(loaded, Selection(), Refusing(), seed=7, repeat=None)
    (problem,) = caught.value.problems
    assert (problem.line, problem.column) == (10, 3)
    assert problem.message == "sim cannot drop packets"


def test_a_kind_of_brokers_that_the_environment_does_not_run_is_refused(tmp_path: Path) -> None:
    loaded = load_all(collect([str(write_scenario(tmp_path))], folder=tmp_path))
    (plan,) = plan_all(loaded, Selection(), Making(), seed=7, repeat=None).plans
    foreign = replace(plan, cluster=replace(plan.cluster, kind="rocks"))
    (problem,) = unsupported_by([foreign], Making())
    assert problem.message == "sim cannot run rocks brokers"


def test_plans_are_the_same_each_time_and_follow_seed_and_repeat(tmp_path: Path) -> None:
    loaded = load_all(collect([str(write_scenario(tmp_path, repeat=2))], folder=tmp_path))
    plans = [
        plan_all(loaded, Selection(), Making(), seed=seed, repeat=repeat).plans
        for seed, repeat in [(7, None), (7, None), (8, None), (7, 4)]
    ]
    assert plans[0] == plans[1]
    assert {p.run_id for p in plans[0]}.isdisjoint(p.run_id for p in plans[2])
    assert [p.run_id for p in plans[3]][:2] == [p.run_id for p in plans[0]]
    assert len(plans[3]) == 4
