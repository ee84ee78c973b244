"""Protects SCRAM: both sides say what RFC 7677 prints, and either refuses an other side that lacks the password."""

import pytest

from client.security.credentials import Credentials
from client.security.plain import decode_plain, encode_plain
from client.security.scram import DIGESTS, ScramClient, ScramError, ScramServer

USER = Credentials(user="user", password="pencil")
SALT = b"[m\x99h\x9d\x125\x8e\xec\xa0K\x14\x126\xfa\x81"


def test_the_exchange_of_the_rfc() -> None:
    """RFC 7677, section 3."""
    client = ScramClient("SCRAM-SHA-256", USER, nonce="rOprNGfwEbeRWgbNEkqO")
    server = ScramServer("SCRAM-SHA-256", {"user": "pencil"}, salt=SALT, nonce="%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0")
    first = client.step(b"")
    assert first == b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO"
    challenge = server.step(first)
    nonce = "rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
    assert challenge == f"r={nonce},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096".encode()
    proof = client.step(challenge)
    assert proof == f"c=biws,r={nonce},p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=".encode()
    final = server.step(proof)
    assert final == b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="
    assert (client.step(final), client.done, server.done) == (b"", True, True)


@pytest.mark.parametrize("mechanism", DIGESTS)
@pytest.mark.parametrize("user", ["user", "a=b,c"])
def test_whoever_has_the_password_gets_in(mechanism: str, user: str) -> None:
    client, server = sides(mechanism, Credentials(user=user, password="pencil"), {user: "pencil"})
    client.step(server.step(client.step(server.step(client.step(b"")))))
    assert client.done
    assert server.done


@pytest.mark.parametrize("passwords", [{"user": "crayon"}, {"somebody": "pencil"}])
def test_a_server_refuses(passwords: dict[str, str]) -> None:
    client, server = sides("SCRAM-SHA-512", USER, passwords)
    proof = client.step(server.step(client.step(b"")))
    with pytest.raises(ScramError) as refused:
        server.step(proof)
    assert "pencil" not in str(refused.value)
    assert not server.done


def test_a_client_refuses_a_server_that_lacks_the_password() -> None:
    client, server = sides("SCRAM-SHA-256", USER, {"user": "pencil"})
    client.step(server.step(client.step(b"")))
    with pytest.raises(ScramError, match="does not know the password"):
        client.step(b"v=AAAA")
    assert not client.done


@pytest.mark.parametrize(
    "challenge",
    [b"", b"\xff", b"r=other,s=QUJD,i=4096", b"r=mine,s=QUJD,i=4096", b"r=mineX,s=QUJD,i=1", b"r=mineX,s=!,i=4096"],
)
def test_a_client_refuses_a_challenge_that_is_none(challenge: bytes) -> None:
    client = ScramClient("SCRAM-SHA-256", USER, nonce="mine")
    client.step(b"")
    with pytest.raises(ScramError):
        client.step(challenge)


@pytest.mark.parametrize("message", [b"", b"\xff", b"n,,", b"n,,n=user", b"p=tls-unique,,n=user,r=x"])
def test_a_server_refuses_a_message_that_is_none(message: bytes) -> None:
    with pytest.raises(ScramError):
        ScramServer("SCRAM-SHA-256", {"user": "pencil"}, salt=SALT, nonce="more").step(message)


def test_plain() -> None:
    assert decode_plain(encode_plain(USER, identity="other")) == USER
    assert decode_plain(b"user pencil") is None
    assert "pencil" not in repr(USER)


def sides(mechanism: str, credentials: Credentials, passwords: dict[str, str]) -> tuple[ScramClient, ScramServer]:
    return (
        ScramClient(mechanism, credentials, nonce="mine"),
        ScramServer(mechanism, passwords, salt=SALT, nonce="more"),
    )
