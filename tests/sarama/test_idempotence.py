"""Protects the idempotent producer: who it is, how its messages are numbered, and that brokers check the numbers."""

import asyncio
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from sarama_program import connect

from client.errors import ClientError
from client.events import Tracer
from client.net.resolver import TableResolver
from client.runtime import ClientRuntime
from client.wire.records import decode_batches
from harness.brokers.embedded.broker import EmbeddedBroker
from harness.brokers.embedded.cluster import ClusterState
from harness.brokers.embedded.controller import Controller
from harness.brokers.embedded.log import MemoryLogs
from harness.environments.sim.loop import SimLoop
from harness.environments.sim.rules import PacketRule
from harness.environments.sim.simulation import simulate
from harness.levers import FLOWS, PacketAction
from harness.plan import ClusterShape, Topic

R, D, BP, BM, MU = 2.0, 1.0, 0.1, 0.25, 3
EXACT_S = 0.001
IDEMPOTENT = {"Producer_Idempotent": True, "Producer_RequiredAcks": "WaitForAll", "Net_MaxOpenRequests": 1}
REQUEST_TIMED_OUT, DUPLICATE, OUT_OF_ORDER, MESSAGE_TOO_LARGE = 7, 46, 45, 10
RELEASES = ("1.27.2", "1.60.1")


async def send(producer: Any, operation: str = "probe", value: bytes = b"x") -> Any:
    return await producer.send(operation, "orders", 0, None, value)


def numbers(lab: Any) -> list[tuple[int, int, int]]:
    """Of every batch that the brokers took: producer id, epoch, first number."""
    return [(h.producer_id, h.producer_epoch, h.base_sequence) for h in lab.headers]


def test_batches_carry_id_epoch_and_numbers(on_each_release: Callable[..., Any]) -> None:
    async def check(lab: Any) -> None:
        producer = await lab.connect(**IDEMPOTENT)
        received_requests = [(api, version) for _, api, version in lab.received_requests if api == "InitProducerId"]
        assert received_requests == [("InitProducerId", 0 if lab.version == "1.27.2" else 4)]
        for _ in range(3):
            await send(producer)
        assert numbers(lab) == [(4711, 0, 0), (4711, 0, 1), (4711, 0, 2)]

    on_each_release(check)


def test_without_idempotence_no_producer_id_is_requested(on_each_release: Callable[..., Any]) -> None:
    async def check(lab: Any) -> None:
        await send(await lab.connect())
        assert not [api for _, api, _ in lab.received_requests if api == "InitProducerId"]
        assert numbers(lab) == [(-1, -1, 0)]

    on_each_release(check)


def test_a_retried_batch_keeps_its_number(on_each_release: Callable[..., Any]) -> None:
    """1.27.2 sends it again at once after the refresh; 1.60.1 pauses first (#3557)."""

    async def check(lab: Any) -> None:
        producer = await lab.connect(**IDEMPOTENT)
        await send(producer, "warm_up")
        lab.produce = [REQUEST_TIMED_OUT, REQUEST_TIMED_OUT]
        elapsed_s, error = await lab.timed(send(producer))
        assert error is None
        assert elapsed_s == pytest.approx(0 if lab.version == "1.27.2" else 2 * BP, abs=EXACT_S)
        assert numbers(lab) == [(4711, 0, 0), (4711, 0, 1)]
        assert [a["outcome"] for a in lab.of("attempt_ended")] == ["failed", "failed", "ok"]
        assert (await send(producer, "next")).offset == 2

    on_each_release(check)


def test_an_answer_that_says_duplicate_is_a_success(on_each_release: Callable[..., Any]) -> None:
    async def check(lab: Any) -> None:
        producer = await lab.connect(**IDEMPOTENT)
        lab.produce = [DUPLICATE]
        assert (await lab.timed(send(producer)))[1] is None

    on_each_release(check)


def test_after_a_failure_the_sequence_begins_anew_in_the_next_epoch(on_each_release: Callable[..., Any]) -> None:
    async def check(lab: Any) -> None:
        producer = await lab.connect(**IDEMPOTENT)
        await send(producer, "warm_up")
        lab.produce = [OUT_OF_ORDER]
        _, error = await lab.timed(send(producer))
        assert error.name == "ErrOutOfOrderSequenceNumber"
        await send(producer, "next")
        await send(producer, "and next")
        assert numbers(lab) == [(4711, 0, 0), (4711, 1, 0), (4711, 1, 1)]

    on_each_release(check)


def test_behind_the_highest_epoch_comes_a_new_id(on_virtual_time: Callable[..., Any]) -> None:
    async def check(lab: Any) -> None:
        lab.epoch = 2**15 - 1
        producer = await lab.connect(**IDEMPOTENT)
        lab.epoch = 0
        lab.produce = [OUT_OF_ORDER]
        assert (await lab.timed(send(producer)))[1] is not None
        await send(producer)
        assert len([api for _, api, _ in lab.received_requests if api == "InitProducerId"]) == 2
        assert numbers(lab) == [(4711, 0, 0)]

    on_virtual_time(check, version="1.60.1")


def test_getting_an_id_is_retried(on_virtual_time: Callable[..., Any]) -> None:
    async def check(lab: Any) -> None:
        lab.producer_id_errors = [15, 14]
        settings = {"Producer_Transaction_Retry_Backoff": 0.3, **IDEMPOTENT}
        elapsed_s, error = await lab.timed(lab.connect(**settings))
        assert error is None
        assert elapsed_s == pytest.approx(0.6, abs=EXACT_S)
        lab.producer_id_errors = [31]
        _, error = await lab.timed(lab.connect(**settings))
        assert error.name == "ErrClusterAuthorizationFailed"
        lab.silent_apis = ("InitProducerId",)
        elapsed_s, error = await lab.timed(lab.connect(Producer_Transaction_Retry_Max=2, **settings))
        # The first time-out ends the connection's reader; what follows fails with the same error at once.
        assert elapsed_s == pytest.approx(R + 3 * 0.3, abs=EXACT_S)
        assert error.text.endswith(": i/o timeout")

    on_virtual_time(check, version="1.60.1")


def test_the_older_release_panics_without_a_producer_id(on_virtual_time: Callable[..., Any]) -> None:
    """client.InitProducerID hides its error, so that its caller reads an answer that is not there."""

    async def check(lab: Any) -> None:
        lab.silent_apis = ("InitProducerId",)
        elapsed_s, error = await lab.timed(lab.connect(**IDEMPOTENT))
        assert (error.name, elapsed_s) == ("runtime.Error", pytest.approx(2 * R, abs=EXACT_S))
        assert error.text == "runtime error: invalid memory address or nil pointer dereference"

    on_virtual_time(check)


def test_only_the_newer_release_answers_every_message_of_a_batch_that_failed(
    on_each_release: Callable[..., Any],
) -> None:
    """Before #2378 the first one was answered, and the others' senders waited for ever."""

    async def check(lab: Any) -> None:
        producer = await lab.connect(Producer_Flush_Frequency=0.1, Producer_Retry_Max=1, **IDEMPOTENT)
        lab.produce = [REQUEST_TIMED_OUT] * 2
        sends = [asyncio.create_task(send(producer, f"s{n}")) for n in range(3)]
        await asyncio.sleep(60)
        assert [task.done() for task in sends] == [True] + [lab.version == "1.60.1"] * 2
        for task in sends:
            if task.done():
                assert task.exception() is not None
            task.cancel()

    on_each_release(check)


@pytest.mark.parametrize("version", RELEASES)
@pytest.mark.parametrize("seed", range(4))
def test_an_embedded_broker_checks_the_numbers(version: str, seed: int) -> None:
    """Connections break at random moments. With 1.60.1 every message is in the log once, in the order of the sends.

    1.27.2 gathers anew what a broken connection held, and the broker refuses a batch of which it has a part already.
    """

    async def main(loop: SimLoop) -> None:
        rng = Random(seed)
        logs = MemoryLogs()
        state = ClusterState(epoch=0, cluster_id="faultlab", controller_id=1, brokers=(), topics=())
        broker = EmbeddedBroker(1, state, logs)
        address = ("127.0.2.1", 9092)
        await loop.new_host("broker").spawn(broker.start(*address), name="broker")
        shape = ClusterShape(brokers=1, topics=(Topic(name="orders"),))
        Controller(shape, lambda _: address).attach(broker.apply)
        given = {name.replace("_", "."): value for name, value in IDEMPOTENT.items()} | {"Producer.Retry.Max": 5}
        runtime = ClientRuntime(Random(seed), TableResolver(), Tracer(loop.time, lambda *_: None))
        producer = await connect(runtime, version, given, [address])
        acknowledged: list[int] = []
        failed: dict[int, str] = {}

        async def one(number: int) -> None:
            await asyncio.sleep(0.01 * number)
            try:
                await send(producer, f"s{number}", b"%d" % number)
            except ClientError as error:
                failed[number] = error.name
            else:
                acknowledged.append(number)

        async def trouble() -> None:
            for _ in range(12):
                await asyncio.sleep(rng.uniform(0.01, 0.1))
                flow = rng.choice(FLOWS)  # the request never comes, or it is written and the answer never comes
                with loop.network.rule(PacketRule(address, flow, "data", PacketAction.RESET)):
                    await asyncio.sleep(0.02)

        async with asyncio.timeout(600):
            await asyncio.gather(trouble(), *(one(number) for number in range(80)))
            await producer.close()
        written = [
            int(record.value or b"")
            for batch in decode_batches(logs.of("orders", 0).read(0, max_bytes=1 << 20, at_least_one=True))
            for record in batch.records
        ]
        if version == "1.60.1":
            assert not failed
            assert written == list(range(80))
        else:
            assert set(failed.values()) == {"ErrOutOfOrderSequenceNumber"}
            assert set(acknowledged) <= set(written)
        assert sorted([*acknowledged, *failed]) == list(range(80))

    simulate(main, Random(seed))
