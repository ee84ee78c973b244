"""Whether each message was written: the log is read once it can no longer change, and matched with the sends."""

from collections.abc import Mapping
from dataclasses import replace

from harness.conductor.recorder import Recorder
from harness.environments.world import ProgressCallback, World
from harness.operations import delivers
from harness.plan import RunPlan
from harness.story import EventKind, Integrity, MessageCopy, OperationStory, WriteStatus

SETTLE_LIMIT_S = 115.0
"""The kernel forgets a closed connection 107 s after its close, and everything has been healed before this begins."""


async def read_integrity(
    plan: RunPlan, world: World, recorder: Recorder, progress: ProgressCallback, sent: Mapping[bytes, str]
) -> Integrity:
    """Wait until the world has settled, then read every partition. `sent` maps each value to the call that sent it.

    Raises WorldError.
    """
    progress("settling")
    recorder.record_event("conductor", world.now_ns(), EventKind.SETTLING_BEGAN, {"limit_s": SETTLE_LIMIT_S})
    settled = await world.settle(SETTLE_LIMIT_S)
    text = f"after {settled.seconds:.3f} s" if settled.complete else f"not within {settled.seconds:.3f} s"
    recorder.record_event("conductor", world.now_ns(), EventKind.SETTLED, {"text": text})
    copies: list[MessageCopy] = []
    foreign_records = 0
    for topic in plan.cluster.topics:
        for partition in range(topic.partitions):
            for record in await world.read_log(topic.name, partition):
                operation = sent.get(record.value or b"")
                if operation is None:
                    foreign_records += 1
                    continue
                copies.append(
                    MessageCopy(operation=operation, topic=topic.name, partition=partition, offset=record.offset)
                )  # fmt: skip
    return Integrity(settled=settled, copies=tuple(copies), foreign_records=foreign_records)


def with_write_status(
    operations: tuple[OperationStory, ...], integrity: Integrity | None
) -> tuple[OperationStory, ...]:
    """The operations, each that delivers a message with whether it was written."""
    there = {copy.operation for copy in integrity.copies} if integrity is not None else set()
    complete = integrity is not None and integrity.settled.complete

    def with_status(operation: OperationStory) -> OperationStory:
        if not delivers(operation.operation):
            return operation
        if operation.alias in there:
            return replace(operation, written=WriteStatus.WRITTEN)
        return replace(operation, written=WriteStatus.NOT_WRITTEN if complete else WriteStatus.UNKNOWN)

    return tuple(map(with_status, operations))
