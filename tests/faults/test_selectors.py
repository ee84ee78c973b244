"""Protects broker selectors: which brokers a fault works on depends on the cluster as it is and on seeded chance."""

from dataclasses import replace
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from harness.faults import FAULTS
from harness.faults.brokers import SELECTORS, Brokers, SelectorError, depends_on_cluster, select_brokers
from harness.plan import ClusterShape, Topic

VIEW = ClusterShape(
    brokers=4, topics=(Topic(name="orders", partitions=2, leaders=(3, 2)), Topic(name="logs.eu-1_x", leaders=(4,)))
).view()


class Named(BaseModel):
    brokers: Brokers


def selected(written: Any, **seen: Any) -> tuple[int, ...]:
    return select_brokers(Named(brokers=written).brokers, replace(VIEW, **seen))


@pytest.mark.parametrize(
    ("written", "brokers"),
    [
        ("all", (1, 2, 3, 4)),
        ([3, 1], (3, 1)),
        ("leader(orders/0)", (3,)),
        ("leader(logs.eu-1_x/0)", (4,)),
        ("controller", (1,)),
        (["leader(orders/0)", 3, "leader(orders/1)"], (3, 2)),
        ([4, "controller"], (4, 1)),
        ([1, 3, 1], (1, 3)),
        (["controller", "controller"], (1,)),
    ],
)
def test_a_selector_means_these_brokers(written: Any, brokers: tuple[int, ...]) -> None:
    assert selected(written) == brokers


def test_a_selector_follows_the_cluster() -> None:
    moved = replace(VIEW.topics["orders"][0], leader=2)
    assert selected("leader(orders/0)", topics={"orders": (moved,)}) == (2,)
    assert selected("controller", controller=4) == (4,)


def test_random_brokers_are_distinct_and_the_same_for_the_same_seed() -> None:
    drawn = {seed: selected("random(2)", seed=str(seed)) for seed in range(50)}
    assert all(len(set(brokers)) == 2 for brokers in drawn.values())
    assert drawn == {seed: selected("random(2)", seed=str(seed)) for seed in range(50)}
    assert len(set(drawn.values())) > 1
    assert {broker for brokers in drawn.values() for broker in brokers} == {1, 2, 3, 4}


def test_random_in_a_list_chooses_among_those_that_are_not_named() -> None:
    assert selected([1, "random(3)"], seed="any")[0] == 1
    assert sorted(selected(["random(1)", 1, 2, 4])) == [1, 2, 3, 4]


def test_others_are_those_on_which_no_fault_is_in_force() -> None:
    assert selected("others") == (1, 2, 3, 4)
    assert selected("others", selected=frozenset({2, 3})) == (1, 4)
    with pytest.raises(SelectorError, match="left for `others`"):
        selected("others", selected=frozenset({1, 2, 3, 4}))


@pytest.mark.parametrize(
    ("written", "code", "says"),
    [
        ([1, 5], "no-such-broker", "there is no broker 5"),
        ("leader(oders/0)", "unknown-topic", "no topic"),
        ("leader(orders/2)", "unknown-partition", "orders has no partition 2"),
        ("random(5)", "no-such-broker", "not 5 brokers"),
        ([1, 2, 3, 4, "random(1)"], "no-such-broker", "not 1 brokers"),
    ],
)
def test_what_the_cluster_does_not_have_is_refused(written: Any, code: str, says: str) -> None:
    with pytest.raises(SelectorError, match=says) as caught:
        selected(written)
    assert caught.value.code == code
    assert caught.value.item in (written if isinstance(written, list) else [written])


def test_a_partition_without_a_leader_selects_nobody() -> None:
    leaderless = replace(VIEW.topics["orders"][0], leader=None)
    with pytest.raises(SelectorError, match="orders/0 has no leader"):
        selected("leader(orders/0)", topics={"orders": (leaderless,)})


@pytest.mark.parametrize(
    ("written", "depends"),
    [("all", False), ([1, 3], False), ("others", True), ("random(1)", True), ([1, "leader(orders/0)"], True)],
)
def test_what_depends_on_the_cluster_is_known(written: Any, depends: bool) -> None:
    assert depends_on_cluster(Named(brokers=written)) is depends
    assert depends_on_cluster(FAULTS["kill"].model_validate({"brokers": written})) is depends


@pytest.mark.parametrize(
    "written", ["none", "leader", "leader(orders)", "random(0)", "random", [], [0], ["all"], [1, "others"], 3]
)
def test_what_is_no_selector_is_refused(written: Any) -> None:
    with pytest.raises(ValidationError):
        Named(brokers=written)


def test_every_documented_selector_works_in_every_fault_of_brokers() -> None:
    more: dict[str, dict[str, str]] = {"latency": {"delay": "1ms"}, "slow_answer": {"delay": "1ms"}}
    more["slow_dial"] = {"delay": "1ms"}
    more |= {"error_answer": {"code": "REQUEST_TIMED_OUT"}, "bad_frame": {"damage": "cut"}}
    more |= {"loss": {"chance": "5%"}, "reorder": {"chance": "5%"}}
    more |= {"slow_broker": {"delay": "1ms"}, "old_broker": {"release": "kafka-2.3"}, "bandwidth": {"rate": "1KB/s"}}
    more |= {"slow_close": {"delay": "1ms"}, "slicer": {"average_size": "1B"}, "limit_data": {"bytes": "1B"}}
    more |= {"tls": {"how": "cut"}, "sasl": {"how": "refuse"}, "dns": {"how": "empty"}}
    for selector in SELECTORS:
        written = [1, 3] if selector.startswith("[") else selector
        for name, fault in FAULTS.items():
            leaves_none = name in ("scale_down", "scale_up") and selector in ("all", "others")
            if "brokers" in fault.model_fields and not leaves_none:
                assert fault.model_validate({"brokers": written, **more.get(name, {})}).stages(VIEW)
