"""Protects what a client writes under TLS: record by record, and nothing more once a write has failed."""

import asyncio
import ssl
from typing import Any

import pytest
import trustme

from client.golang import Dialer, TlsRecords
from client.limit import Limit
from client.net.connection import Connection
from client.net.errors import Cause, NetError, Phase
from client.security.tls import client_context, server_context

AUTHORITY = trustme.CA()
PATIENT = Limit(5.0, ("Net.WriteTimeout",))
MUCH = 32 << 20
"""More than both kernels' buffers hold."""


def server_side() -> ssl.SSLContext:
    context = server_context()
    AUTHORITY.issue_cert("localhost").configure_cert(context)
    return context


async def encrypted(traced: Any, port: int) -> Connection:
    connection = await Dialer(traced.runtime(), keep_alive_s=15).dial("127.0.0.1", port, broker=-1, limit=PATIENT)
    ca_pem = AUTHORITY.cert_pem.bytes().decode()
    connection.use_tls(client_context(ca_pem), server_name="localhost", records=TlsRecords().cut)
    await connection.handshake(read=PATIENT, write=PATIENT)
    return connection


async def send(connection: Connection, data: bytes, limit: Limit) -> None:
    await connection.send(data, api="Produce", correlation_id=7, limit=limit, expects_response=True)


def test_what_takes_many_records_arrives_whole(traced: Any) -> None:
    data = bytes(range(256)) * (MUCH >> 8)

    async def test() -> None:
        got: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

        async def read(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            got.set_result(await reader.readexactly(len(data)))
            writer.close()

        server = await asyncio.start_server(read, "127.0.0.1", 0, ssl=server_side())
        async with server, asyncio.timeout(30):
            connection = await encrypted(traced, server.sockets[0].getsockname()[1])
            await send(connection, data, Limit(30.0, ("Net.WriteTimeout",)))
            assert await got == data
            connection.close()

    asyncio.run(test())


def test_once_a_write_has_failed_each_one_fails(traced: Any) -> None:
    async def test() -> None:
        async def never_read(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.transport.pause_reading()  # type: ignore[attr-defined]

        server = await asyncio.start_server(never_read, "127.0.0.1", 0, ssl=server_side())
        async with server:
            connection = await encrypted(traced, server.sockets[0].getsockname()[1])
            short, never = (Limit(seconds, ("Net.WriteTimeout",)) for seconds in (0.2, 600.0))
            for data, limit in ((bytes(MUCH), short), (b"more", never)):
                with pytest.raises(NetError) as caught:
                    async with asyncio.timeout(20):
                        await send(connection, data, limit)
                assert (caught.value.phase, caught.value.cause) == (Phase.WRITE, Cause.TIMEOUT)
            connection.close()

    asyncio.run(test())
