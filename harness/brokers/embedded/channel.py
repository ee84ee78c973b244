"""A client's connection as the broker reads and writes it: plain, or inside TLS."""

import asyncio
import ssl
from typing import Protocol

from client.security.tls import TlsSession

_READ_BYTES = 65536


class Channel(Protocol):
    """Both raise OSError where the connection breaks."""

    async def read(self) -> bytes:
        """What has come, at least a byte; empty at the end."""
        ...

    async def send(self, data: bytes) -> None:
        """Returns when the kernel has all of it."""
        ...


class PlainChannel:
    """The bytes as they are."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def read(self) -> bytes:
        return await self._reader.read(_READ_BYTES)

    async def send(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()


class TlsChannel:
    """The bytes inside a TLS session, of a server, or with a server's name of a client. Both raise TlsError as well."""

    def __init__(self, plain: Channel, context: ssl.SSLContext, *, server_name: str | None = None) -> None:
        self._plain = plain
        self._session = TlsSession(context, server_name=server_name)

    async def handshake(self, begun: bytes = b"") -> None:
        """Make the handshake; `begun` was read of it already. Raises ConnectionResetError where it is cut."""
        self._session.feed(begun)
        while not await self._step():
            data = await self._plain.read()
            if not data:
                raise ConnectionResetError("closed in the middle of a TLS handshake")
            self._session.feed(data)

    async def _step(self) -> bool:
        try:
            return self._session.handshake()
        finally:  # an alert, too, says the client why
            await self._flush()

    async def read(self) -> bytes:
        while (found := self._session.read()) == b"":
            data = await self._plain.read()
            if not data:
                return b""
            self._session.feed(data)
        return found or b""

    async def send(self, data: bytes) -> None:
        self._session.write(data)
        await self._flush()

    async def _flush(self) -> None:
        ciphertext = self._session.outgoing()
        if ciphertext:
            await self._plain.send(ciphertext)
