"""The message of SASL PLAIN: identity, user and password in one. Source: RFC 4616."""

from client.security.credentials import Credentials


def encode_plain(credentials: Credentials, *, identity: str = "") -> bytes:
    """`identity` is who the user acts for, empty: the user."""
    return "\0".join((identity, credentials.user, credentials.password)).encode()


def decode_plain(message: bytes) -> Credentials | None:
    """None where it is no such message. The identity is not looked at."""
    try:
        _, user, password = message.decode().split("\0")
    except ValueError:
        return None
    return Credentials(user=user, password=password)
