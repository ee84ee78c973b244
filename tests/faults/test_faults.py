"""Protects that faults are data: each gives exactly the levers and the proof that its documentation promises."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from harness.faults import FAULTS
from harness.faults.brokers import SelectorError
from harness.language import Problems, loads
from harness.levers import (
    DARK,
    DARK_IPV6,
    FLOWS,
    LEVERS,
    REFUSED,
    AnswerNames,
    ChangeCluster,
    CloseListener,
    ConnectionsCut,
    DelayedResponse,
    Delays,
    ErrorAnswer,
    FilterPackets,
    Intercept,
    Lever,
    PacketAction,
    PacketsDelayed,
    PacketsDropped,
    RemoveMembers,
    Signal,
    Silence,
    Toxic,
)
from harness.plan import ClusterShape, Topic

REQUIRED: dict[str, dict[str, object]] = {
    "bad_frame": {"damage": "cut"}, "error_answer": {"code": "REQUEST_TIMED_OUT"}, "latency": {"delay": "1ms"},
    "leader_move": {"partition": "orders/0"}, "no_leader": {"partition": "orders/0"},
    "old_broker": {"release": "kafka-2.3"}, "scale_down": {"brokers": [1]}, "scale_up": {"brokers": [1]},
    "slow_answer": {"delay": "1ms"},
    "slow_broker": {"delay": "1ms"}, "slow_dial": {"delay": "1ms"}, "unknown_topic": {"topic": "orders"},
    "loss": {"chance": "5%"}, "reorder": {"chance": "25%"},
    "bandwidth": {"rate": "1KB/s"}, "slow_close": {"delay": "1ms"}, "slicer": {"average_size": "1B"},
    "limit_data": {"bytes": "1B"}, "tls": {"how": "stall"}, "sasl": {"how": "stall"},
    "dns": {"how": "empty"},
}  # fmt: skip
"""What a fault cannot do without."""
SCENARIO = """\
format: 1
scenario: impossible
about: A fault comes at the end.
client: {profile: sarama, version: 1.27.2, bootstrap: [1]}
cluster: {brokers: 2, topics: [{name: orders}]}
expect: [{measure: probe.outcome, equals: ok}]
steps:
  - {do: connect}
  - {do: send, as: probe, give_up_after: 60s}
"""


def levers(name: str, count: int = 3, **parameters: object) -> list[Lever]:
    """Those that a fault pulls in a cluster of so many brokers."""
    shape = ClusterShape(brokers=count, topics=(Topic(name="orders", replication=count),))
    return [stage.lever for stage in FAULTS[name].model_validate(parameters).stages(shape.view())]


def test_every_fault_is_registered_under_its_own_name_with_a_summary_and_a_proof() -> None:
    assert {"blackhole", "latency", "refuse"} <= set(FAULTS)
    for name, model in FAULTS.items():
        assert model.name == name
        assert model.proof.evidence.name
        assert model.proof.evidence.meaning
        assert (model.__doc__ or "").strip()


def test_blackhole_drops_both_ways_on_every_broker_by_default() -> None:
    assert levers("blackhole", 2) == [
        FilterPackets(broker=b, flow=f, verdict=PacketAction.DROP) for b in (1, 2) for f in ("to_broker", "to_client")
    ]


@pytest.mark.parametrize("flow", FLOWS)
def test_one_way_blackhole_leaves_the_other_way_open(flow: str) -> None:
    assert levers("blackhole", flows=[flow])[0] == FilterPackets(broker=1, flow=flow, verdict=PacketAction.DROP)  # type: ignore[arg-type]
    assert {lever.flow for lever in levers("blackhole", flows=[flow])} == {flow}  # type: ignore[attr-defined]


def test_blackhole_at_the_sender_drops_where_packets_are_sent() -> None:
    assert levers("blackhole", 1, at="sender") == [
        FilterPackets(broker=1, flow=f, verdict=PacketAction.DROP, hook="sender") for f in FLOWS
    ]


@pytest.mark.parametrize(("upon", "flow"), [("request", "to_broker"), ("answer", "to_client")])
def test_reset_meets_data_alone_and_as_often_as_asked(upon: str, flow: Any) -> None:
    once = FilterPackets(broker=1, flow=flow, verdict=PacketAction.RESET, only="data", at_most=1)
    assert levers("reset", 1, upon=upon, times=1) == [once]
    assert levers("reset", 1, upon=upon) == [replace(once, at_most=None)]


@pytest.mark.parametrize("kind", ["kill", "pause", "restart"])
def test_faults_of_a_process_are_one_signal_a_broker(kind: Any) -> None:
    assert levers(kind, 2) == [Signal(broker=1, kind=kind), Signal(broker=2, kind=kind)]


@pytest.mark.parametrize(
    ("name", "parameters", "lever"),
    [
        ("silence", {}, Intercept(broker=1, answer=Silence())),
        ("silence", {"api": "metadata", "nth": 2}, Intercept(broker=1, answer=Silence(), api="metadata", nth=2)),
        ("slow_answer", {"delay": "1.5s"}, Intercept(broker=1, answer=DelayedResponse(seconds=1.5))),
        (
            "error_answer",
            {"code": "NOT_LEADER_OR_FOLLOWER"},
            Intercept(broker=1, answer=ErrorAnswer(error="NOT_LEADER_OR_FOLLOWER"), api="produce"),
        ),
    ],
)
def test_faults_of_answers_are_one_intercept_a_broker(
    name: str, parameters: dict[str, object], lever: Intercept
) -> None:
    assert levers(name, 1, **parameters) == [lever]


def test_levers_that_no_world_can_pull_cannot_be_written() -> None:
    for wrong, says in [
        ({"verdict": PacketAction.REFUSE, "hook": "sender"}, "dropped where they are sent"),
        ({"verdict": PacketAction.RESET}, "of a connection's data"),
        ({"verdict": PacketAction.DROP, "at_most": 0}, "are none"),
        ({"verdict": PacketAction.DELAY, "only": "syn"}, "delayed by"),
        ({"verdict": PacketAction.DROP, "chance": 0.0}, "by chance"),
        ({"verdict": PacketAction.DROP, "chance": 0.5, "hook": "sender"}, "by chance"),
        ({"verdict": PacketAction.REFUSE, "chance": 0.5}, "by chance"),
        ({"verdict": PacketAction.DROP, "delays": Delays(seconds=(1.0,))}, "delayed by"),
        ({"verdict": PacketAction.DELAY, "only": "data", "delays": Delays(seconds=(1.0,))}, "dials or all packets"),
        ({"verdict": PacketAction.DUPLICATE, "at_most": 1}, "dials or all packets"),
        ({"verdict": PacketAction.DELAY, "only": "syn", "delays": Delays(seconds=(1.0,)), "chance": 0.5}, "by chance"),
        ({"verdict": PacketAction.OVERFLOW}, "dials to a broker"),
    ]:
        with pytest.raises(ValueError, match=says):
            FilterPackets(broker=1, flow="to_broker", **wrong)  # type: ignore[arg-type]


def test_selector_takes_the_named_brokers_alone() -> None:
    fault = FAULTS["blackhole"].model_validate({"brokers": [3, 1]})
    assert [stage.lever.broker for stage in fault.stages(ClusterShape(brokers=3).view())] == [3, 3, 1, 1]


def test_refuse_by_listener_takes_the_listener_away_and_by_firewall_rejects_new_dials_alone() -> None:
    assert levers("refuse", 1) == [CloseListener(broker=1)]
    assert levers("refuse", 1, by="firewall") == [
        FilterPackets(broker=1, flow="to_broker", only="syn", verdict=PacketAction.REFUSE)
    ]


def test_latency_speaks_milliseconds_and_is_proven_by_its_own_delay() -> None:
    assert levers("latency", 1, delay="100ms", jitter="10ms", flows="to_client") == [
        Toxic(broker=1, flow="to_client", kind="latency", attributes=(("latency", 100), ("jitter", 10)))
    ]
    (slow,) = levers("latency", 1, delay="100ms", jitter="10ms", flows="to_client")
    assert slow.enough == pytest.approx(0.081)


def test_drop_takes_what_it_names_and_draws_for_each_link() -> None:
    assert levers("drop", 1, only="syn") == [
        FilterPackets(broker=1, flow="to_broker", only="syn", verdict=PacketAction.DROP)
    ]
    half_open = levers("drop", 1, only="data")
    assert half_open == [FilterPackets(broker=1, flow=f, only="data", verdict=PacketAction.DROP) for f in FLOWS]
    lossy = levers("drop", 2, chance="30%")
    assert {lever.chance for lever in lossy} == {0.3}  # type: ignore[attr-defined]
    assert len({lever.seed for lever in lossy}) == 4  # type: ignore[attr-defined]


def test_a_slow_dial_holds_what_opens_a_connection_and_draws_for_each_broker() -> None:
    (one,) = levers("slow_dial", 1, delay="700ms")
    assert one == FilterPackets(
        broker=1, flow="to_broker", only="syn", verdict=PacketAction.DELAY, delays=Delays(seconds=(0.7,))
    )
    (listed,) = levers("slow_dial", 1, delays=["2s", "0s"])
    assert listed.delays.seconds == (2.0, 0.0)
    first, second = levers("slow_dial", 2, delay="700ms", jitter="100ms")
    drawn = [[delay_s for _, delay_s in zip(range(5), lever.delays, strict=False)] for lever in (first, second)]
    assert drawn[0] != drawn[1]
    assert all(0.6 <= delay_s <= 0.8 for delay_s in drawn[0] + drawn[1])


def test_half_open_loses_bytes_both_ways_or_answers_the_clients_with_a_reset() -> None:
    assert levers("half_open", 1) == levers("drop", 1, only="data")
    assert levers("half_open", 1, then="reset") == levers("reset", 1)
    silent, reset = (FAULTS["half_open"].model_validate({"then": then}) for then in ("silent", "reset"))
    assert (silent.proven_by().evidence, reset.proven_by().evidence) == (PacketsDropped, ConnectionsCut)


def test_a_full_accept_queue_is_met_by_dials_alone() -> None:
    assert levers("accept_queue_full", 1) == [
        FilterPackets(broker=1, flow="to_broker", only="syn", verdict=PacketAction.OVERFLOW)
    ]


def test_latency_in_packets_holds_all_of_them_and_draws_for_each_link() -> None:
    steady = levers("latency", 1, delay="100ms", via="packets")
    delays = Delays(seconds=(0.1,))
    assert steady == [FilterPackets(broker=1, flow=f, verdict=PacketAction.DELAY, delays=delays) for f in FLOWS]
    spread = levers("latency", 2, delay="100ms", jitter="10ms", via="packets")
    assert len({lever.delays.seed for lever in spread}) == 4  # type: ignore[attr-defined]
    assert FAULTS["latency"].model_validate({"delay": "1ms", "via": "packets"}).proven_by().evidence is PacketsDelayed


@pytest.mark.parametrize(
    ("name", "verdict", "more"),
    [
        ("loss", PacketAction.DROP, {}),
        ("duplicate", PacketAction.DUPLICATE, {}),
        ("reorder", PacketAction.DELAY, {"delays": Delays(seconds=(0.01,))}),
    ],
)
def test_faults_of_a_bad_line_draw_for_every_packet_of_each_link(name: str, verdict: Any, more: dict[str, Any]) -> None:
    pulled = levers(name, 2, chance="20%", flows=["to_client"])
    assert pulled == [
        FilterPackets(broker=b, flow="to_client", verdict=verdict, chance=0.2, seed=lever.seed, **more)  # type: ignore[attr-defined]
        for b, lever in zip((1, 2), pulled, strict=True)
    ]
    assert len({lever.seed for lever in pulled}) == 2  # type: ignore[attr-defined]


IMPOSSIBLE: list[tuple[str, dict[str, object], str]] = [
    ("blackhole", {"brokers": "some"}, "selects no brokers"),
    ("blackhole", {"brokers": []}, "selects no brokers"),
    ("blackhole", {"brokers": [0]}, "numbered 1, 2, 3"),
    ("blackhole", {"brokers": [True]}, "numbered 1, 2, 3"),
    ("blackhole", {"flows": ["sideways"]}, "no flow"),
    ("blackhole", {"flows": []}, "once"),
    ("blackhole", {"depth": 1}, "Extra inputs"),
    ("refuse", {"by": "magic"}, "listener"),
    ("blackhole", {"at": "middle"}, "receiver"),
    ("reset", {"upon": "dial"}, "request"),
    ("reset", {"times": 0}, "greater than or equal to 1"),
    ("silence", {"api": "Produce"}, "pattern"),
    ("silence", {"nth": 0}, "greater than or equal to 1"),
    ("slow_answer", {}, "Field required"),
    ("slow_answer", {"delay": "0s"}, "greater than 0"),
    ("slow_answer", {"delay": "1ns"}, "at least 1ms"),
    ("error_answer", {}, "Field required"),
    ("error_answer", {"code": "not leader"}, "pattern"),
    ("latency", {}, "Field required"),
    ("latency", {"delay": 100}, "not a duration"),
    ("latency", {"delay": "1.5ms"}, "whole milliseconds"),
    ("latency", {"delay": "0ms"}, "whole milliseconds"),
    ("latency", {"delay": "10ms", "jitter": "10ms"}, "not less than"),
    ("drop", {"only": "ack"}, "syn"),
    ("drop", {"only": "syn", "flows": ["to_client"]}, "no SYN goes to a client"),
    ("drop", {"chance": "0%"}, "greater than 0"),
    ("drop", {"chance": "101%"}, "less than or equal to 1"),
    ("drop", {"chance": 0.5}, "not a percentage"),
    ("half_open", {"then": "loud"}, "silent"),
    ("accept_queue_full", {"brokers": []}, "selects no brokers"),
    ("latency", {"delay": "2m", "jitter": "1s", "via": "packets"}, "no connection survives"),
    ("latency", {"delay": "1ms", "via": "pigeon"}, "toxiproxy"),
    ("loss", {}, "Field required"),
    ("loss", {"chance": "0%"}, "greater than 0"),
    ("loss", {"chance": "101%"}, "less than or equal to 1"),
    ("duplicate", {"chance": "0%"}, "greater than 0"),
    ("reorder", {}, "Field required"),
    ("reorder", {"chance": "100%"}, "less than 1"),
    ("reorder", {"chance": "5%", "delay": "1.5ms"}, "whole milliseconds"),
    ("reorder", {"chance": "5%", "delay": "3m"}, "no connection survives"),
    ("slow_dial", {}, "one of delay and delays"),
    ("slow_dial", {"delay": "1s", "delays": ["1s"]}, "one of delay and delays"),
    ("slow_dial", {"delays": []}, "at least 1 item"),
    ("slow_dial", {"delays": ["0s"]}, "at least 1ms"),
    ("slow_dial", {"delay": "1.5ms"}, "whole milliseconds"),
    ("slow_dial", {"delays": ["1s", "3m"]}, "gives up before"),
    ("slow_dial", {"delay": "10ms", "jitter": "11ms"}, "more than the least delay"),
    ("slow_dial", {"delay": "10ms", "spread": "pareto"}, "uniform"),
    ("dns", {}, "Field required"),
    ("dns", {"how": "slow"}, "at least 1ms"),
    ("dns", {"how": "slow", "delay": "3m"}, "less than or equal to 120"),
    ("dns", {"how": "empty", "delay": "1s"}, "`delay` belongs to how: slow"),
    ("dns", {"how": "slow", "delay": "1s", "to": "dark"}, "`to` belongs to how: wrong"),
    ("dns", {"how": "wrong", "family": "ipv6"}, "`family` belongs to how: dead_first"),
]


@pytest.mark.parametrize(("name", "parameters", "says"), IMPOSSIBLE)
def test_impossible_parameters_are_refused_with_the_reason(name: str, parameters: dict[str, object], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        FAULTS[name].model_validate(parameters)


@pytest.mark.parametrize(("name", "parameters"), [one[:2] for one in IMPOSSIBLE])
def test_a_scenario_with_impossible_parameters_is_refused_where_they_stand(
    name: str, parameters: dict[str, object]
) -> None:
    step = json.dumps({"inject": name, "as": "impossible", **parameters})
    with pytest.raises(Problems) as refused:
        loads(SCENARIO + f"  - {step}\n", Path("impossible.scenario.yaml"))
    line = SCENARIO.count("\n") + 1
    assert {problem.line for problem in refused.value.problems} == {line}


def test_scale_down_closes_ports_after_the_members_left_or_before() -> None:
    left = ChangeCluster(change=RemoveMembers(brokers=(1,)))
    ports = CloseListener(broker=1)
    planned = FAULTS["scale_down"].model_validate({"brokers": [1], "election": "2s"})
    view = ClusterShape(brokers=3).view()
    assert [(stage.lever, stage.after_s) for stage in planned.stages(view)] == [(left, 0.0), (ports, 2.0)]
    wrong_order = FAULTS["scale_down"].model_validate({"brokers": [1], "election": "2s", "first": "ports"})
    assert [(stage.lever, stage.after_s) for stage in wrong_order.stages(view)] == [(ports, 0.0), (left, 2.0)]
    assert levers("scale_down", brokers=[1], then="foreign")[1:] == []


@pytest.mark.parametrize(
    ("name", "parameters", "says"),
    [
        ("scale_down", {"brokers": "all"}, "all brokers would leave"),
        ("scale_up", {"brokers": "all"}, "no broker would be a member at first"),
        ("leader_move", {"partition": "orders/0"}, "orders/0 has one replica"),
        ("leader_move", {"partition": "orders/0", "to": 3}, "broker 3 is no replica of orders/0"),
        ("no_leader", {"partition": "orders/7"}, "orders has no partition 7"),
        ("unknown_topic", {"topic": "order"}, "no topic `order`"),
    ],
)
def test_a_change_that_this_cluster_cannot_make_is_refused(name: str, parameters: dict[str, object], says: str) -> None:
    shape = ClusterShape(brokers=3, topics=(Topic(name="orders"),))
    with pytest.raises(SelectorError, match=says):
        FAULTS[name].model_validate(parameters).stages(shape.view())


def test_lies_about_a_name_are_one_lever_a_broker_and_make_dark_what_they_name() -> None:
    assert levers("dns", 2, how="slow", delay="2s") == [AnswerNames(broker=b, delay_s=2.0) for b in (1, 2)]
    assert levers("dns", 1, how="empty") == [AnswerNames(broker=1, addresses=())]
    assert levers("dns", 1, how="wrong") == [AnswerNames(broker=1, addresses=(REFUSED,))]
    assert levers("dns", 3, how="wrong", to="another", brokers=[3]) == [AnswerNames(broker=3, addresses=(1,))]
    dark = FilterPackets(broker=DARK, flow="to_broker", verdict=PacketAction.DROP)
    assert levers("dns", 1, how="wrong", to="dark") == [dark, AnswerNames(broker=1, addresses=(DARK,))]
    assert levers("dns", 1, how="dead_first") == [dark, AnswerNames(broker=1, addresses=(DARK, 1))]
    assert levers("dns", 1, how="dead_first", family="ipv6") == [AnswerNames(broker=1, addresses=(DARK_IPV6, 1))]


def test_where_there_is_one_broker_no_name_is_anothers() -> None:
    with pytest.raises(SelectorError, match="no other broker"):
        levers("dns", 1, how="wrong", to="another")


def test_an_old_broker_must_be_old_in_something() -> None:
    with pytest.raises(ValidationError, match="says no versions"):
        FAULTS["old_broker"].model_validate({})


def test_a_broker_outside_the_cluster_is_refused_with_those_that_exist() -> None:
    with pytest.raises(SelectorError, match="no broker 4") as caught:
        FAULTS["blackhole"].model_validate({"brokers": [4]}).stages(ClusterShape(brokers=3).view())
    assert caught.value.hint == "brokers are 1 to 3"


def test_levers_are_registered() -> None:
    for name in FAULTS:
        made = levers(name, **REQUIRED.get(name, {}))
        assert made
        assert all(LEVERS[lever.name] is type(lever) for lever in made)
