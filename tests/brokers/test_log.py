"""Protects the log: what was appended is there and stays, a leader that was replaced is fenced, a torn write is void.

In memory and in files it is the same log, held against the simplest model: a list of batches."""

import os
import resource
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from client.wire.records import Record, RecordBatch, decode_batches, encode_batch
from harness.brokers.embedded.entries import EntryKind, decode_entries, encode_entry
from harness.brokers.embedded.file_log import FileLog, FileLogs, read_valid_batches
from harness.brokers.embedded.log import Fenced, MemoryLog, MemoryLogs, PartitionLog, StorageError
from harness.brokers.embedded.producers import SequenceError, StaleProducer

EVERYTHING = 2**40


def batch(*values: bytes, at_ms: int = 0, **producer: int) -> bytes:
    records = [Record(offset_delta=i, timestamp_delta_ms=i, value=v) for i, v in enumerate(values)]
    return encode_batch(records, base_timestamp_ms=at_ms, **producer)


def contents(log: PartitionLog) -> list[tuple[int, int, bytes | None]]:
    """Offset, leader epoch and value of every record."""
    return _records(decode_batches(log.read(0, max_bytes=EVERYTHING, at_least_one=True)))


def _records(batches: tuple[RecordBatch, ...]) -> list[tuple[int, int, bytes | None]]:
    return [(b.offset_of(r), b.header.partition_leader_epoch, r.value) for b in batches for r in b.records]


@pytest.fixture(params=["memory", "file"])
def log(request: Any, tmp_path: Path) -> PartitionLog:
    return MemoryLog() if request.param == "memory" else FileLog(tmp_path / "orders-0.log")


APPENDS = st.lists(st.lists(st.binary(max_size=30), min_size=1, max_size=4), max_size=8)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(appends=APPENDS, data=st.data())
@pytest.mark.parametrize("kind", ["memory", "file"])
def test_reads_what_was_appended(kind: str, tmp_path: Path, appends: list[list[bytes]], data: st.DataObject) -> None:
    path = tmp_path / "t.log"
    path.unlink(missing_ok=True)
    log: PartitionLog = MemoryLog() if kind == "memory" else FileLog(path)
    log.become_leader(3)
    model: list[tuple[int, int, bytes | None]] = []
    sizes = []
    for values in appends:
        one = batch(*values)
        sizes.append((len(model), len(one)))
        assert log.append(3, one) == len(model)
        model += [(len(model) + i, 3, v) for i, v in enumerate(values)]
    assert contents(log) == model
    assert log.end_offset == len(model)
    offset = data.draw(st.integers(0, len(model) + 1))
    max_bytes = data.draw(st.integers(0, 400))
    at_least_one = data.draw(st.booleans())
    read = log.read(offset, max_bytes=max_bytes, at_least_one=at_least_one)
    wanted = [size for base, size in sizes if base + _count(base, model, sizes) > offset]
    fitting = 0
    while fitting < len(wanted) and sum(wanted[: fitting + 1]) <= max_bytes:
        fitting += 1
    assert len(read) == sum(wanted[: max(fitting, int(at_least_one and bool(wanted)))])
    if read:
        assert decode_batches(read)[0].header.base_offset <= offset
    if isinstance(log, FileLog):
        log.close()


def _count(base: int, model: list[Any], sizes: list[tuple[int, int]]) -> int:
    after = [b for b, _ in sizes if b > base]
    return (after[0] if after else len(model)) - base


def test_a_replaced_leader_is_fenced(log: PartitionLog) -> None:
    log.become_leader(1)
    log.append(1, batch(b"first"))
    log.become_leader(2)
    with pytest.raises(Fenced, match="epoch 1: epoch 2 leads"):
        log.append(1, batch(b"zombie"))
    with pytest.raises(Fenced):
        log.become_leader(1)
    assert log.append(2, batch(b"second")) == 1
    assert contents(log) == [(0, 1, b"first"), (1, 2, b"second")]


def test_times(log: PartitionLog) -> None:
    log.become_leader(0)
    assert log.newest_record() is None
    assert log.offset_at(0) is None
    log.append(0, batch(b"a", b"b", at_ms=100))
    log.append(0, batch(b"c", at_ms=300))
    log.append(0, batch(b"d", at_ms=200))
    assert [log.offset_at(t) for t in (0, 100, 101, 102, 300)] == [(0, 100), (0, 100), (1, 101), (2, 300), (2, 300)]
    assert log.offset_at(301) is None
    assert log.newest_record() == (2, 300)


def test_a_repeated_batch_is_appended_once(log: PartitionLog) -> None:
    log.become_leader(0)
    sent = [
        batch(b"x", b"y", producer_id=9, producer_epoch=0, base_sequence=0),
        batch(b"z", producer_id=9, producer_epoch=0, base_sequence=2),
    ]
    assert [log.append(0, b) for b in (*sent, *sent)] == [0, 2, 0, 2]
    assert [v for _, _, v in contents(log)] == [b"x", b"y", b"z"]
    with pytest.raises(SequenceError, match="producer 9: sequence 7 where 3 was expected"):
        log.append(0, batch(b"gap", producer_id=9, producer_epoch=0, base_sequence=7))
    with pytest.raises(SequenceError, match="sequence 1 where 0 was expected"):
        log.append(0, batch(b"new", producer_id=9, producer_epoch=1, base_sequence=1))
    assert log.append(0, batch(b"new", producer_id=9, producer_epoch=1, base_sequence=0)) == 3
    with pytest.raises(StaleProducer, match="producer 9: epoch 0 after epoch 1"):
        log.append(0, batch(b"old", producer_id=9, producer_epoch=0, base_sequence=3))
    assert log.end_offset == 4


def test_sequences_go_round(log: PartitionLog) -> None:
    log.become_leader(0)
    log.append(0, batch(b"a", b"b", producer_id=1, producer_epoch=0, base_sequence=2**31 - 1))
    assert log.append(0, batch(b"c", producer_id=1, producer_epoch=0, base_sequence=1)) == 2


def test_five_batches_are_remembered(log: PartitionLog) -> None:
    log.become_leader(0)
    sent = [batch(b"%d" % i, producer_id=1, producer_epoch=0, base_sequence=i) for i in range(6)]
    assert [log.append(0, b) for b in sent] == list(range(6))
    assert log.append(0, sent[1]) == 1
    with pytest.raises(SequenceError):
        log.append(0, sent[0])


# Files that several processes share.


def test_another_process_goes_on_where_the_first_was_killed(tmp_path: Path) -> None:
    one = FileLog(tmp_path / "orders-0.log")
    one.become_leader(0)
    one.append(0, batch(b"1", producer_id=4, producer_epoch=0, base_sequence=0))
    one.close()
    two = FileLog(tmp_path / "orders-0.log")
    two.become_leader(1)
    assert two.append(1, batch(b"1", producer_id=4, producer_epoch=0, base_sequence=0)) == 0  # a repeat, even now
    assert two.append(1, batch(b"2")) == 1
    assert contents(two) == [(0, 0, b"1"), (1, 1, b"2")]


def test_a_resumed_leader_that_knows_nothing_is_fenced_by_the_file(tmp_path: Path) -> None:
    """The old leader's file says nothing new to it until it appends: what it appends is void."""
    old, new = FileLog(tmp_path / "orders-0.log"), FileLog(tmp_path / "orders-0.log")
    old.become_leader(1)
    assert old.append(1, batch(b"before")) == 0
    new.become_leader(2)
    with pytest.raises(Fenced, match=r"orders-0\.log: epoch 1: epoch 2 leads"):
        old.append(1, batch(b"zombie"))
    assert new.append(2, batch(b"after")) == 1
    with pytest.raises(Fenced):
        old.append(1, batch(b"zombie again"))
    assert contents(new) == [(0, 1, b"before"), (1, 2, b"after")]
    assert _records(decode_batches(read_valid_batches(tmp_path, "orders", 0))) == contents(new)


def test_what_a_leader_wrote_just_before_it_was_replaced_counts(tmp_path: Path) -> None:
    old, new = FileLog(tmp_path / "t.log"), FileLog(tmp_path / "t.log")
    old.become_leader(1)
    old.append(1, batch(b"last"))
    new.become_leader(2)
    assert new.end_offset == 1


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.tuples(st.sampled_from(["append", "take over", "die"]), st.integers(0, 2)), max_size=25))
def test_what_was_acknowledged_is_read_by_all(tmp_path: Path, steps: list[tuple[str, int]]) -> None:
    """Three processes take over from each other, are killed in the middle of a write, go on without knowing: the log
    holds exactly what was acknowledged, in that order."""
    path = tmp_path / "orders-0.log"
    path.unlink(missing_ok=True)
    logs = [FileLog(path) for _ in range(3)]
    epochs = [-1, -1, -1]
    epoch = 0
    acknowledged: list[bytes] = []
    for number, (step, who) in enumerate(steps):
        if step == "take over":
            epoch += 1
            logs[who].become_leader(epoch)
            epochs[who] = epoch
        elif step == "die":
            torn = encode_entry(EntryKind.BATCH, epochs[who], batch(b"torn" * 9))
            with path.open("ab") as file:
                file.write(torn[: 1 + number * 7 % (len(torn) - 1)])
            logs[who].close()
            logs[who] = FileLog(path)
            epochs[who] = -1
        elif epochs[who] >= 0:
            value = b"%d" % number
            try:
                offset = logs[who].append(epochs[who], batch(value))
            except Fenced:
                assert epochs[who] < epoch
            else:
                assert epochs[who] == epoch
                assert offset == len(acknowledged)
                acknowledged.append(value)
    for log in logs:
        log.close()
    stored = _records(decode_batches(read_valid_batches(tmp_path, "orders", 0)))
    assert [(offset, value) for offset, _, value in stored] == list(enumerate(acknowledged))


def test_kills_lose_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    """Real processes, killed at once while they append: every offset that one of them told is in the log."""
    told: dict[int, bytes] = {}
    for epoch in range(8):
        read_end, write_end = os.pipe()
        pid = os.fork()
        if pid == 0:
            log = FileLog(tmp_path / "orders-0.log")
            log.become_leader(epoch)
            number = 0
            while True:
                value = b"%d-%d" % (epoch, number)
                os.write(write_end, b"%d %b\n" % (log.append(epoch, batch(value, os.urandom(20_000))), value))
                number += 1
        os.close(write_end)
        with os.fdopen(read_end, "rb") as lines:
            for _ in range(20 + epoch):
                offset, value = lines.readline().split()
                told[int(offset)] = value
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            for line in lines.read().splitlines():
                offset, value = line.split()
                told[int(offset)] = value
    stored = {offset: value for offset, _, value in _records(decode_batches(read_valid_batches(tmp_path, "orders", 0)))}
    assert len(told) > 150
    assert {offset: stored.get(offset) for offset in told} == told


def test_entries_are_found_again_behind_a_torn_one() -> None:
    whole = [
        encode_entry(EntryKind.EPOCH, 1),
        encode_entry(EntryKind.BATCH, 1, b"body"),
        encode_entry(EntryKind.EPOCH, 2),
    ]
    for cut in range(len(whole[1])):
        found = [(e.kind, e.epoch) for e in decode_entries(whole[0] + whole[1][:cut] + whole[2])]
        assert found == [(EntryKind.EPOCH, 1), (EntryKind.EPOCH, 2)]


@given(st.binary(max_size=200))
def test_garbage_holds_no_entries(data: bytes) -> None:
    assert list(decode_entries(data)) == []


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"gone/orders-0\.log: No such file or directory"):
        FileLogs(tmp_path / "gone").of("orders", 0)
    with pytest.raises(StorageError, match="gone/producer-ids: No such file or directory"):
        FileLogs(tmp_path / "gone").next_producer_id()


@pytest.mark.parametrize("make", [lambda p: [MemoryLogs()], lambda p: [FileLogs(p), FileLogs(p), FileLogs(p)]])
def test_producer_ids_are_never_given_twice(make: Callable[[Path], list[Any]], tmp_path: Path) -> None:
    logs = make(tmp_path)
    given_away = [log.next_producer_id() for _ in range(5) for log in logs]
    assert len(set(given_away)) == len(given_away)


def test_a_full_disk_is_a_storage_error_and_the_log_goes_on(tmp_path: Path) -> None:
    """The limit of a file's size does what a full disk does: a part is written, then nothing."""
    log = FileLog(tmp_path / "orders-0.log")
    log.become_leader(0)
    log.append(0, batch(b"1"))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, ((tmp_path / "orders-0.log").stat().st_size + 30, hard))
    try:
        with pytest.raises(StorageError, match=r"the disk is full: 30 of \d+ bytes were written"):
            log.append(0, batch(b"lost"))
        with pytest.raises(StorageError, match="File too large"):
            log.append(0, batch(b"lost, too"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert log.append(0, batch(b"2")) == 1
    assert contents(log) == [(0, 0, b"1"), (1, 0, b"2")]
