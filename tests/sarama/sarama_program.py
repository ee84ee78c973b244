"""A program with one of Sarama's producers, called as the lab calls it: through the profile's handlers."""

from collections.abc import Sequence
from typing import NamedTuple, cast

from client.operations import Context, Result
from client.profiles import profile
from client.profiles.contract import ProfileSession
from client.runtime import ClientRuntime
from client.settings import SettingValue


class Acknowledged(NamedTuple):
    partition: int
    offset: int


class Program:
    def __init__(self, session: ProfileSession, runtime: ClientRuntime) -> None:
        self._session = session
        self._runtime = runtime

    async def send(
        self, operation: str, topic: str, partition: int | None, key: bytes | None, value: bytes
    ) -> Acknowledged:
        found = await self.call(
            "send",
            operation,
            topic=topic,
            partition=partition,
            key=None if key is None else key.decode(),
            value=value.decode(),
        )
        return Acknowledged(cast(int, found["partition"]), cast(int, found["offset"]))

    async def close(self) -> None:
        await self.call("close", "close")

    async def call(self, operation: str, call_id: str, **arguments: object) -> Result:
        return await self._session.handlers[operation](arguments, Context(call_id, self._runtime.tracer))


async def connect(
    runtime: ClientRuntime,
    version: str,
    settings: dict[str, SettingValue],
    addresses: Sequence[tuple[str, int]],
    producer: str | None = None,
) -> Program:
    sarama = profile("sarama")
    resolved = sarama.settings.resolve(settings, version)
    program = Program(sarama.open(runtime, resolved, addresses, producer=producer), runtime)
    await program.call("connect", "connect")
    return program
