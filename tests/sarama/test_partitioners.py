"""Protects the choice of partitions: the same as that of Go's program, key by key."""

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from client.profiles.sarama.message import ProducerMessage
from client.profiles.sarama.partitioner import PARTITIONERS, ExplicitPartitioner

KEYS = (b"a", b"b", b"key", b"order-17", "ünï".encode(), b"", b"0123456789abcdef", b"\xff\xfe\x80")

# What IBM/sarama v1.60.1 chose for these keys; 1.27.2's hash and referencehash are the same code.
CHOSEN_BY_GO = [
    ("hash", 3, [0, 0, 1, 0, 2, 0, 1, 1]),
    ("hash", 7, [6, 5, 4, 6, 3, 2, 5, 0]),
    ("hash", 1000, [76, 219, 28, 194, 526, 35, 251, 688]),
    ("referencehash", 3, [2, 2, 1, 2, 2, 2, 1, 1]),
    ("referencehash", 7, [3, 4, 4, 3, 3, 0, 4, 0]),
    ("referencehash", 1000, [572, 429, 28, 454, 526, 613, 397, 688]),
    ("consistentcrchash", 3, [0, 2, 1, 2, 1, 0, 0, 2]),
    ("consistentcrchash", 7, [4, 4, 5, 0, 6, 0, 2, 4]),
    ("consistentcrchash", 1000, [907, 681, 937, 420, 26, 0, 11, 300]),
    ("murmur2", 3, [1, 2, 1, 0, 2, 0, 0, 0]),
    ("murmur2", 7, [5, 6, 4, 6, 0, 2, 6, 3]),
    ("murmur2", 1000, [524, 796, 281, 961, 139, 681, 52, 251]),
]


@pytest.mark.parametrize(("name", "count", "chosen"), CHOSEN_BY_GO)
def test_keys_go_where_go_sends_them(name: str, count: int, chosen: list[int]) -> None:
    partitioner = PARTITIONERS[name](Random(1))
    assert [partitioner.partition(ProducerMessage(key=key), count) for key in KEYS] == chosen
    assert partitioner.requires_consistency(ProducerMessage(key=b"a"))


@pytest.mark.parametrize("name", ["hash", "referencehash", "consistentcrchash", "murmur2", "random"])
def test_without_a_key_any_partition_that_can_be_written_does(name: str) -> None:
    partitioner = PARTITIONERS[name](Random(1))
    assert not partitioner.requires_consistency(ProducerMessage())
    chosen = [partitioner.partition(ProducerMessage(), 4) for _ in range(400)]
    assert {chosen.count(p) > 60 for p in range(4)} == {True}


def test_round_robin_goes_round_and_starts_again_where_partitions_vanish() -> None:
    partitioner = PARTITIONERS["roundrobin"](Random(1))
    assert [partitioner.partition(ProducerMessage(), 3) for _ in range(5)] == [0, 1, 2, 0, 1]
    assert partitioner.partition(ProducerMessage(), 1) == 0


def test_the_manual_partitioner_takes_what_the_message_says_and_others_obey_a_named_partition() -> None:
    manual = PARTITIONERS["manual"](Random(1))
    assert [manual.partition(ProducerMessage(explicit_partition=p), 3) for p in (None, 2, 7)] == [0, 2, 7]
    assert manual.requires_consistency(ProducerMessage())
    named = ExplicitPartitioner(PARTITIONERS["roundrobin"](Random(1)))
    assert [named.partition(ProducerMessage(explicit_partition=p), 3) for p in (None, 2, None)] == [0, 2, 1]
    assert named.requires_consistency(ProducerMessage(explicit_partition=0))
    assert not named.requires_consistency(ProducerMessage())


def test_a_producer_uses_the_one_that_its_settings_name(on_each_release: Callable[..., Any]) -> None:
    async def check(lab: Any) -> None:
        for name, expected in (("hash", [0, 0, 1, 0]), ("referencehash", [2, 2, 1, 2]), ("manual", [0, 0, 0, 0])):
            producer = await lab.connect(Producer_Partitioner=name)
            found = [await producer.send("s", "orders", None, key, b"x") for key in KEYS[:4]]
            assert [f.partition for f in found] == expected
            await producer.close()

    on_each_release(check, brokers=3, leaders=(1, 2, 3))
