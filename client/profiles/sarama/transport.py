"""A write as broker.go makes it. Source: Shopify/sarama v1.27.2 broker.go, IBM/sarama v1.60.1 broker.go (write).

Go's tls.Conn makes its handshake in the first Write, under the deadlines that are set by then, and a handshake that has
failed fails each later Write in the same way.
"""

from client.limit import Limit
from client.net.connection import Connection
from client.profiles.sarama.config import Config


async def write(
    conn: Connection, conf: Config, request: bytes, *, api: str, correlation_id: int, expects_response: bool
) -> None:
    """Send a request, after the TLS handshake where one is due. Raises NetError."""
    if conf.tls:
        limits_reads = conf.release.limits_reads_on_tls_write
        if conn.needs_handshake:
            await conn.handshake(read=conf.read if limits_reads else Limit(), write=conf.write)
        elif limits_reads:
            conn.set_read_limit(conf.read)  # also of an answer that is being waited for
    await conn.send(
        request, api=api, correlation_id=correlation_id, limit=conf.write, expects_response=expects_response
    )
