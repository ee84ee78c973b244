"""Protects the error table: complete, and the same as kafka-python's."""

import kafka.errors
import pytest

from client.wire import errors

RENAMED = {
    "UNKNOWN_SERVER_ERROR": "UNKNOWN",
    "NONE": "NO_ERROR",
    "NOT_LEADER_OR_FOLLOWER": "NOT_LEADER_FOR_PARTITION",
    "MESSAGE_TOO_LARGE": "MESSAGE_SIZE_TOO_LARGE",
    "INVALID_TOPIC_EXCEPTION": "INVALID_TOPIC",
    "INVALID_REPLICA_ASSIGNMENT": "INVALID_REPLICATION_ASSIGNMENT",
}
"""Apache Kafka's names where kafka-python has kept other ones."""


def test_names_and_codes_agree_with_kafka_python() -> None:
    theirs = {c.errno: c for c in vars(kafka.errors).values() if isinstance(c, type) and hasattr(c, "errno")}
    shared = [e for e in errors.ERRORS.values() if e.code in theirs]
    assert len(shared) > 50
    assert [RENAMED.get(e.name, e.name) for e in shared] == [theirs[e.code].message for e in shared]
    assert [e.name for e in shared if e.retriable != theirs[e.code].retriable] == ["CORRUPT_MESSAGE"]


def test_every_code_has_a_row() -> None:
    assert sorted(errors.ERRORS) == list(range(-1, max(errors.ERRORS) + 1))
    assert all(e.name and e.text.endswith(".") for e in errors.ERRORS.values())


@pytest.mark.parametrize("name", [n for n in vars(errors) if n.isupper() and isinstance(getattr(errors, n), int)])
def test_constants_are_those_of_the_table(name: str) -> None:
    assert errors.ERRORS_BY_NAME[name].code == getattr(errors, name)


def test_a_code_that_nobody_knows_says_so() -> None:
    assert errors.error_of(6).name == "NOT_LEADER_OR_FOLLOWER"
    assert errors.error_of(6).retriable
    assert errors.error_of(999).name == "UNKNOWN_999"
