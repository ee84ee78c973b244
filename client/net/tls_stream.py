"""TLS on a stream: what a client reads and writes is encrypted on the way, in every world alike."""

import ssl
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress

from client.net.errors import Cause, NetError, Phase
from client.net.stream import Stream
from client.security.tls import TlsError, TlsFault, TlsSession

_CAUSES = {
    TlsFault.EXPIRED: Cause.CERTIFICATE_EXPIRED,
    TlsFault.FOREIGN: Cause.CERTIFICATE_FOREIGN,
    TlsFault.WRONG_NAME: Cause.CERTIFICATE_NAME,
    TlsFault.ALERT: Cause.TLS_ALERT,
    TlsFault.NO_TLS: Cause.NO_TLS,
}


class TlsStream:
    """What a `Stream` offers to tasks that block on it. When the handshake is made is the client's policy: nothing can
    be written or read before `handshake` has returned.

    Deadlines are those of the stream beneath, so a handshake is as long as reading and writing may be.
    """

    def __init__(
        self, stream: Stream, context: ssl.SSLContext, *, server_name: str, records: Callable[[bytes], Iterable[bytes]]
    ) -> None:
        """`server_name` is what the certificate has to be for: a name or an address. `records` cuts what is written at
        once into what the client gives to the kernel one by one, at most 16 KiB each."""
        self.remote = stream.remote
        self.local = stream.local
        self._stream = stream
        self._session = TlsSession(context, server_name=server_name)
        self._records = records
        self._unwritten: list[bytes] = []
        self._write_failure: NetError | None = None
        self._plain = bytearray()
        self._ended = False
        self.failure: NetError | None = None
        """What ended the handshake, without the frames it was raised through."""

    @property
    def established(self) -> bool:
        return self._session.established

    async def handshake(self) -> None:
        """Does nothing where it was made. One that failed stays failed: its NetError is raised again.

        What the certificate lacks is an error in phase HANDSHAKE; time-outs and ends are those of READ and WRITE.
        """
        if self.failure is not None:
            raise self.failure.again()
        try:
            done = self._step()
            await self._flush()
            while not done:
                self._session.feed(await self._stream.read_some())
                done = self._step()
                await self._flush()
        except NetError as error:
            self.failure = error.again()
            raise

    def _step(self) -> bool:
        try:
            return self.established or self._session.handshake()
        except TlsError as wrong:
            raise self._refuse(wrong, Phase.HANDSHAKE) from None

    async def _flush(self) -> None:
        ciphertext = self._session.outgoing()
        if ciphertext:
            await self._stream.write(ciphertext)

    def _refuse(self, wrong: TlsError, phase: Phase) -> NetError:
        """The error as the client has it; the peer gets an alert, if it still listens."""
        with suppress(NetError):
            self._stream.try_write(self._session.outgoing())
        return NetError(phase, _CAUSES[wrong.fault], self.remote, self.local, wrong.detail)

    # What a Stream has, over plain text.

    @property
    def buffered_bytes(self) -> int:
        """How much a read gets without waiting. Raises NetError where what has come cannot be decrypted."""
        self._decrypt(self._stream.read_buffered())
        return len(self._plain)

    @property
    def has_pending_error(self) -> bool:
        return self._stream.has_pending_error

    @property
    def open_for_reading(self) -> bool:
        return self._stream.open_for_reading and not self._ended

    def set_read_deadline(self, at_s: float | None) -> None:
        self._stream.set_read_deadline(at_s)

    def set_write_deadline(self, at_s: float | None) -> None:
        self._stream.set_write_deadline(at_s)

    async def read_full(self, size_bytes: int) -> bytes:
        """Exactly so many bytes. What a failed read had received is dropped."""
        while len(self._plain) < size_bytes:
            if self._ended:
                raise self._end_of_stream()
            try:
                self._decrypt(await self._stream.read_some())
            except NetError as error:
                if error.cause is Cause.EOF:
                    raise self._end_of_stream() from None
                self._plain.clear()
                raise
        taken = bytes(self._plain[:size_bytes])
        del self._plain[:size_bytes]
        return taken

    def try_write(self, data: bytes) -> bool:
        """Give data to the kernel; True if it took all of it, False if `drain` has to wait for that."""
        assert self.established, "written before the handshake"
        assert not self._unwritten, "written before the kernel had all of the last write"
        with self._failing_for_good():
            records = iter(self._records(data))
            for record in records:
                if not self._write_record(record):
                    self._unwritten = list(records)
                    return False
        return True

    async def drain(self) -> None:
        """Wait until the kernel has all that was written, or the deadline."""
        unwritten, self._unwritten = self._unwritten, []
        with self._failing_for_good():
            await self._stream.drain()
            for record in unwritten:
                if not self._write_record(record):
                    await self._stream.drain()

    @contextmanager
    def _failing_for_good(self) -> Iterator[None]:
        """Nothing can follow a part of a message: once a write has failed, each one fails with its error. Source: Go,
        crypto/tls/conn.go (halfConn.setErrorLocked)."""
        if self._write_failure is not None:
            raise self._write_failure.again()
        try:
            yield
        except NetError as error:
            self._write_failure = error.again()
            raise

    def _write_record(self, record: bytes) -> bool:
        self._session.write(record)
        return self._stream.try_write(self._session.outgoing())

    def close(self) -> None:
        """Close at once, as a client does that gives a connection up: the peer is told nothing."""
        self._stream.close()

    def _decrypt(self, ciphertext: bytes) -> None:
        self._session.feed(ciphertext)
        try:
            found = self._session.read()
        except TlsError as wrong:
            raise self._refuse(wrong, Phase.READ) from None
        if found is None:
            self._ended = True
        else:
            self._plain += found

    def _end_of_stream(self) -> NetError:
        partial = bool(self._plain)
        self._plain.clear()
        return NetError(Phase.READ, Cause.UNEXPECTED_EOF if partial else Cause.EOF, self.remote, self.local)
