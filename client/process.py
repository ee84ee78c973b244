"""The bundled client as a process: `python -m client`. Commands on stdin, events on stdout, its log on stderr."""

import asyncio
import json
import logging
import os
from collections.abc import Mapping, Sequence

from pydantic_core import to_json

from client.net import precise_loop
from client.serve import EXIT_USAGE, LOG, Event, event_to_dict, serve

_LINE_LIMIT_BYTES = 16 << 20
"""A command is as long as the message that it carries."""


def main() -> int:
    """Be the subject that FAULTLAB_SUBJECT describes. Returns the exit code."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    text = os.environ.get("FAULTLAB_SUBJECT")
    if text is None:
        LOG.error("FAULTLAB_SUBJECT is not set: it holds the launch record, see docs/SUBJECT_PROTOCOL.md")
        return EXIT_USAGE
    try:
        launch = json.loads(text)
    except ValueError as wrong:
        LOG.error("FAULTLAB_SUBJECT is no JSON: %s", wrong)
        return EXIT_USAGE
    if not isinstance(launch, dict):
        LOG.error("FAULTLAB_SUBJECT is no JSON object")
        return EXIT_USAGE
    try:
        return run_pipes(launch, 0, 1)
    except KeyboardInterrupt:
        return 130


def run_pipes(launch: Mapping[str, object], stdin: int, stdout: int) -> int:
    """`serve_pipes` in a loop of its own."""
    return precise_loop.run(serve_pipes(launch, stdin, stdout))


async def serve_pipes(launch: Mapping[str, object], stdin: int, stdout: int) -> int:
    """`serve` over two file descriptors, which are pipes, sockets or terminals; both are closed at the end.

    For a forked child as well: hand in its ends of the pipes.
    """
    loop = asyncio.get_running_loop()
    commands = asyncio.StreamReader(limit=_LINE_LIMIT_BYTES)
    events = _EventWriter()
    try:
        source, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(commands), os.fdopen(stdin, "rb", buffering=0)
        )
        sink, _ = await loop.connect_write_pipe(lambda: events, os.fdopen(stdout, "wb", buffering=0))
    except ValueError as wrong:
        LOG.error("stdin and stdout have to be pipes: %s", wrong)
        return EXIT_USAGE
    events.transport = sink
    try:
        return await serve(launch, commands, events.write)
    finally:
        source.close()
        sink.close()
        await events.lost


class _EventWriter(asyncio.BaseProtocol):
    """`lost` is done when everything is written or the reader is gone."""

    def __init__(self) -> None:
        self.transport: asyncio.WriteTransport | None = None
        self.lost: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.lost.done():
            self.lost.set_result(None)

    def write(self, events: Sequence[Event]) -> None:
        """Each as a line of JSON. Raises BrokenPipeError where the reader is gone."""
        if self.lost.done() or self.transport is None or self.transport.is_closing():
            raise BrokenPipeError("the reader of our events is gone")
        self.transport.write(b"".join([to_json(event_to_dict(event)) + b"\n" for event in events]))
