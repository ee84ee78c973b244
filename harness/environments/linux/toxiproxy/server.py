"""How a toxiproxy-server is started and known to be ready; who holds its process is its environment's affair."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from harness.environments.linux.toxiproxy.client import ToxiproxyClient
from harness.environments.linux.toxiproxy.http_transport import ToxiproxyFailed
from harness.toxiproxy.obtain import VERSION

_READY_LIMIT_S = 10.0
_RETRY_S = 0.005

ENVIRONMENT = {"LOG_LEVEL": "info"}
"""Of the server's process: one log line for each accepted connection and each failure."""


def command(program: Path, host: str, port: int) -> tuple[str, ...]:
    return (str(program), "-host", host, "-port", str(port))


async def await_ready(client: ToxiproxyClient, alive: Callable[[], bool]) -> None:
    """Return when the server answers with the version that the lab was made for.

    `alive` says whether its process still runs. Raises ToxiproxyFailed.
    """
    loop = asyncio.get_running_loop()
    deadline_s = loop.time() + _READY_LIMIT_S
    while True:
        try:
            version = await client.call(lambda server: server.version())
        except ToxiproxyFailed as exc:
            if not alive():
                raise ToxiproxyFailed("Toxiproxy ended while it was starting") from exc
            if loop.time() > deadline_s:
                raise ToxiproxyFailed(f"Toxiproxy was not ready within {_READY_LIMIT_S:g} s ({exc})") from exc
            await asyncio.sleep(_RETRY_S)
            continue
        if version != VERSION:
            raise ToxiproxyFailed(f"Toxiproxy answers as version {version}, the lab was made for {VERSION}")
        return
