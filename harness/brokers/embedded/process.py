"""A broker's whole life in a process of its own, usually forked: it ends when it is killed or its channel closes.

    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        ours.close()
        os._exit(run_broker(1, listen=("127.0.1.1", 9092), channel_fd=theirs.detach(), logs=folder))
    theirs.close()
    link = await BrokerLink.from_socket(1, ours)
    controller.attach(link.push)          # sends the state that the broker begins with
    await link.ready()

All brokers of a cluster get the same `logs` folder, which must exist: what one has acknowledged outlives it there. A
restarted broker is a new process with a new channel. Between fork and `run_broker` close what the child must not hold:
above all the other brokers' channels, because a broker lives for as long as anybody holds its channel's other end.
Call `handlers.prepare_all()` once in the parent: else each child does it before it is ready, for half a second.
"""

import asyncio
import json
import logging
import signal
import socket
from pathlib import Path
from typing import Any

from harness.brokers.cluster import ClusterStateError
from harness.brokers.embedded.broker import EmbeddedBroker
from harness.brokers.embedded.cluster import decode_state
from harness.brokers.embedded.file_log import FileLogs
from harness.brokers.embedded.handlers import prepare_all
from harness.brokers.embedded.intercepts import Intercepts, decode_intercept
from harness.brokers.security import PLAINTEXT, BrokerSecurity

_LINE_LIMIT_BYTES = 16 * 1024 * 1024

FAILED = 1
"""Exit code of a broker that could not start or continue; the reason was sent over the channel."""


def run_broker(
    broker_id: int,
    *,
    listen: tuple[str, int],
    channel_fd: int,
    logs: Path,
    log_file: Path | None = None,
    security: BrokerSecurity = PLAINTEXT,
) -> int:
    """Serve until the channel closes; return the exit code. Takes `channel_fd` over.

    `log_file` gets the broker's own log (refused requests, connections that ended, fencing); None: stderr.
    """
    # Ctrl-C in a terminal reaches every process of the group: whether a broker ends is the channel's decision.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    logging.basicConfig(
        filename=log_file, level=logging.INFO, force=True, format="%(relativeCreated)d ms %(levelname)s %(message)s"
    )
    prepare_all()
    return asyncio.run(_live(broker_id, listen, socket.socket(fileno=channel_fd), logs, security))


async def _live(
    broker_id: int, listen: tuple[str, int], channel: socket.socket, folder: Path, security: BrokerSecurity
) -> int:
    reader, writer = await asyncio.open_connection(sock=channel, limit=_LINE_LIMIT_BYTES)
    first = await reader.readline()
    if not first:
        return 0
    try:
        state, commands = decode_state(first), CommandHandler(writer)
        logs = FileLogs(folder)
        broker = EmbeddedBroker(broker_id, state, logs, commands.intercepts, commands.create_topic, security)
        bound = await broker.start(*listen)
    except (ClusterStateError, OSError) as wrong:
        await _send_message(writer, {"failed": f"{listen[0]}:{listen[1]}: {wrong}"})
        return FAILED
    try:
        await _send_message(writer, {"applied": state.epoch})
        await _send_message(writer, {"ready": bound})
        while line := await reader.readline():
            await _send_message(writer, commands.handle(line, broker))
    except ClusterStateError as wrong:
        await _send_message(writer, {"failed": str(wrong)})
        return FAILED
    except OSError:
        logging.getLogger(__name__).info("broker %d: the channel broke", broker_id)
    finally:
        await broker.stop()
    return 0


async def _send_message(writer: asyncio.StreamWriter, message: dict[str, object]) -> None:
    writer.write(_line(message))
    await writer.drain()


class CommandHandler:
    """What comes over the channel once the broker listens: further states, and what is to be done to requests."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self.intercepts = Intercepts(self._intercepted, self._seen)

    def handle(self, line: bytes, broker: EmbeddedBroker) -> dict[str, object]:
        """Do as the line says; what to say when it is done. Raises ClusterStateError for a line that says nothing
        known."""
        message = _object(line)
        if "intercept" in message:
            intercept = decode_intercept(message["intercept"])
            self.intercepts.add(int(message["number"]), intercept, int(message.get("seen", 0)))
            return {"intercepting": message["number"]}
        if "release" in message:
            self.intercepts.release(int(message["release"]))
            return {"released": message["release"]}
        state = decode_state(line)
        broker.apply(state)
        return {"applied": state.epoch}

    def create_topic(self, name: str, partitions: int, replication: int) -> None:
        """Ask the controller for a topic that a client asked this broker for."""
        self._writer.write(_line({"create": [name, partitions, replication]}))

    def _seen(self, number: int) -> None:
        self._writer.write(_line({"seen": number}))

    def _intercepted(self, number: int, at_ns: int | None) -> None:
        """Sent before the request is answered: by the time an answer arrives, its request has been counted."""
        self._writer.write(_line({"intercepted": [number, at_ns]}))


def _object(line: bytes) -> dict[str, Any]:
    try:
        message = json.loads(line)
    except ValueError:
        message = None
    return message if isinstance(message, dict) else {}


def _line(message: dict[str, object]) -> bytes:
    return json.dumps(message).encode() + b"\n"
