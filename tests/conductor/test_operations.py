"""Protects what a subject is asked: each operation's command, field by field, as docs/SUBJECT_PROTOCOL.md has it."""

import pkgutil
from dataclasses import replace
from typing import Any

import pytest

import harness.operations
from harness.operations import OPERATIONS, delivers, names_where
from harness.plan import ClusterShape, PlannedOperation
from harness.story import Outcome


def command(sim: Any, operation: str, **arguments: Any) -> dict[str, Any]:
    return OPERATIONS[operation].command(
        PlannedOperation(operation=operation, alias="probe", arguments=arguments), sim.plan()
    )


def test_send_fills_in_topic_and_value(sim: Any) -> None:
    assert command(sim, "send") == {"op": "send", "id": "probe", "topic": "orders", "value": "0123456789ab/probe"}


def test_send_passes_on_what_the_step_says(sim: Any) -> None:
    assert command(sim, "send", topic="t", partition=2, key="k", value="v", deadline=6.0) == {
        "op": "send", "id": "probe", "topic": "t", "partition": 2, "key": "k", "value": "v", "deadline_s": 6.0,
    }  # fmt: skip


@pytest.mark.parametrize(("size", "value"), [(0, ""), (3, "abc"), (5, "abcd."), (8, "abcd....")])
def test_size_cuts_or_pads(sim: Any, size: int, value: str) -> None:
    assert command(sim, "send", value="abcd", size=size)["value"] == value


def test_send_without_any_topic_is_refused(sim: Any) -> None:
    plan = replace(sim.plan(), cluster=ClusterShape(brokers=1))
    with pytest.raises(ValueError, match="names no topic"):
        OPERATIONS["send"].command(PlannedOperation(operation="send", alias="probe"), plan)


def test_connect_and_close_say_nothing_more(sim: Any) -> None:
    assert command(sim, "connect") == {"op": "connect", "id": "probe"}
    assert command(sim, "close") == {"op": "close", "id": "probe"}


def test_starting_a_client_asks_it_nothing(sim: Any) -> None:
    with pytest.raises(ValueError, match="no command"):
        command(sim, "start_client")


def test_words_of_expect() -> None:
    assert OPERATIONS["send"].expects["acknowledged"] is Outcome.OK
    assert "acknowledged" not in OPERATIONS["connect"].expects


def test_each_file_is_an_operation() -> None:
    files = {module.name for module in pkgutil.iter_modules(harness.operations.__path__)} - {"base"}
    assert files == set(OPERATIONS)


def test_a_handle_is_named_only_where_it_is_given(sim: Any) -> None:
    assert "handle" not in command(sim, "send")
    for name in ("connect", "send", "close"):
        assert command(sim, name, handle="second")["handle"] == "second"


def test_names_come_in_the_order_of_a_clients_life() -> None:
    names = names_where(lambda _: True)
    assert set(names) == {"start_client", *OPERATIONS}
    assert (names[:2], names[-1]) == (("start_client", "connect"), "close")
    assert names_where(lambda operation: operation.delivers) == ("send",)


def test_what_is_not_registered_delivers_nothing() -> None:
    assert delivers("send")
    assert not delivers("of_somewhere_else")
