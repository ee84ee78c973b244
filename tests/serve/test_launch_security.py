"""Protects what a subject says of a launch record whose TLS or SASL it cannot use: which key, and what it should be."""

import pytest

from client.launch import LaunchError, parse_launch_record

RECORD = {"protocol": 1, "client": "sarama", "version": "1.60.1", "bootstrap": ["127.0.2.1:9092"]}
SASL = {"user": "tester", "password": "only-for-this-test"}


@pytest.mark.parametrize(
    ("tls", "said"),
    [
        ({}, "tls holds no `ca`"), ({"ca": ""}, "tls holds no `ca`"), ("pem", "tls holds no `ca`"),
        ({"ca": "no certificate"}, "no certificates in PEM"),
        ({"ca": "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"}, "no certificates in PEM"),
    ],
)  # fmt: skip
def test_an_authority_that_cannot_be_read(tls: object, said: str) -> None:
    with pytest.raises(LaunchError) as refused:
        parse_launch_record({**RECORD, "tls": tls})
    assert said in str(refused.value)


@pytest.mark.parametrize(("lacking", "other"), [("user", "password"), ("password", "user")])
def test_half_of_the_credentials(lacking: str, other: str) -> None:
    with pytest.raises(LaunchError) as refused:
        parse_launch_record({**RECORD, "sasl": {other: SASL[other]}})
    assert f"`{lacking}`" in str(refused.value)
    assert SASL[other] not in str(refused.value)


def test_credentials_are_shown_nowhere() -> None:
    found = parse_launch_record({**RECORD, "sasl": SASL})
    assert found.credentials is not None
    assert found.credentials.password == SASL["password"]
    assert SASL["password"] not in repr(found)
