"""Protects how many writes a request takes under TLS: a later one meets what the peer answered to one before."""

from client.golang import TlsRecords


def test_records_are_those_that_crypto_tls_writes() -> None:
    """Measured with Go 1.26.8 and TLS 1.3: the sizes of a connection's writes, less header, tag and type."""
    records = TlsRecords()
    written = [[len(record) for record in records.cut(bytes(size))] for size in (37, 20599, 100000, 20000, 40000)]
    assert written == [
        [37],
        [2372, 3558, 4744, 5930, 3995],
        [8302, 9488, 10674, 11860, 13046, 14232, 15418, 16384, 596],
        [16384, 3616],
        [16384, 16384, 7232],
    ]


def test_nothing_gets_lost() -> None:
    records = TlsRecords()
    for data in (b"", b"x", bytes(range(256)) * 1000):
        assert b"".join(records.cut(data)) == data
