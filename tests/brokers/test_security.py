"""Protects the broker's TLS and SASL listeners: clients that know nothing of it get in and are served with the right
certificate's authority and the right password, and nobody else is."""

from collections.abc import Callable
from typing import Any

import confluent_kafka
import kafka
import pytest

from client.security.credentials import Credentials
from client.security.plain import encode_plain
from client.security.tls import client_context
from client.wire.apis.api_versions import ApiVersionsRequest
from client.wire.apis.metadata import MetadataRequest
from client.wire.apis.sasl_authenticate import SaslAuthenticateRequest
from client.wire.apis.sasl_handshake import SaslHandshakeRequest
from client.wire.errors import ERRORS
from harness.brokers.certificates import certificates_for
from harness.brokers.security import BrokerSecurity

DEADLINE_S = 20
Start = Callable[..., Any]
USER = Credentials(user="tester", password="only-for-this-test")
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")


def security(*, tls: bool, sasl: tuple[str, ...] = MECHANISMS) -> BrokerSecurity:
    certificates = certificates_for(("127.0.0.1",)) if tls else None
    return BrokerSecurity(certificates=certificates, mechanisms=sasl, credentials=USER)


@pytest.fixture
def asking(start: Start) -> Any:
    """Plain text and SASL."""
    return start(security=security(tls=False))


def confluent_writes(bootstrap: str, mechanism: str, password: str, *, tls: bool) -> int:
    """The offset of a message, or the code of the error that librdkafka reports."""
    ended: list[int] = []
    producer = confluent_kafka.Producer(
        {
            "bootstrap.servers": bootstrap, "security.protocol": "sasl_ssl" if tls else "sasl_plaintext",
            "sasl.mechanisms": mechanism, "sasl.username": USER.user, "sasl.password": password,
            "ssl.ca.pem": certificates_for(("127.0.0.1",)).ca_pem, "message.timeout.ms": DEADLINE_S * 1000,
            "error_cb": lambda error: ended.append(error.code()), "log_level": 0,
        }
    )  # fmt: skip
    producer.produce("one", b"secret", on_delivery=lambda error, where: ended.append(error or where.offset()))
    while not ended:
        assert producer.poll(DEADLINE_S) > 0, "librdkafka says nothing"
    return ended[0]


def kafka_python_writes(bootstrap: str, mechanism: str, password: str, *, tls: bool) -> int:
    producer = kafka.KafkaProducer(
        bootstrap_servers=bootstrap, security_protocol="SASL_SSL" if tls else "SASL_PLAINTEXT",
        sasl_mechanism=mechanism, sasl_plain_username=USER.user, sasl_plain_password=password,
        ssl_context=client_context(certificates_for(("127.0.0.1",)).ca_pem),
    )  # fmt: skip
    try:
        return int(producer.send("one", b"secret").get(DEADLINE_S).offset)
    finally:
        producer.close()


@pytest.mark.parametrize("tls", [True, False], ids=["tls", "plain text"])
@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("writes", [confluent_writes, kafka_python_writes])
def test_independent_clients_get_in(start: Start, tls: bool, mechanism: str, writes: Callable[..., int]) -> None:
    cluster = start(security=security(tls=tls))
    assert writes(cluster.bootstrap, mechanism, USER.password, tls=tls) == 0


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_wrong_password_is_refused(asking: Any, mechanism: str) -> None:
    found = confluent_writes(asking.bootstrap, mechanism, "guessed", tls=False)
    assert found == confluent_kafka.KafkaError._AUTHENTICATION


def test_a_foreign_authority_is_refused(start: Start, caplog: pytest.LogCaptureFixture) -> None:
    """librdkafka with an authority that has not signed the brokers' certificates."""
    bootstrap = start(security=security(tls=True, sasl=())).bootstrap
    foreign = certificates_for(("192.0.2.1",)).ca_pem
    settings = {"bootstrap.servers": bootstrap, "security.protocol": "ssl", "ssl.ca.pem": foreign, "log_level": 0}
    producer = confluent_kafka.Producer(settings)
    producer.produce("one", b"never")
    while "UNKNOWN_CA" not in caplog.text:  # what the client says to the broker
        producer.poll(0.1)
    producer.purge()


def names(response: Any) -> str:
    return ERRORS[response.error_code].name


def test_nothing_but_the_exchange_before_it(asking: Any) -> None:
    raw = asking.dial(1)
    assert names(raw.ask(ApiVersionsRequest(), 0)) == "NONE"
    raw.send(MetadataRequest(topics=None), 5)
    assert raw.frame() is None


def test_an_unknown_mechanism_ends_the_connection(asking: Any) -> None:
    raw = asking.dial(1)
    refused = raw.ask(SaslHandshakeRequest(mechanism="GSSAPI"), 1)
    assert (names(refused), refused.mechanisms) == ("UNSUPPORTED_SASL_MECHANISM", MECHANISMS)
    assert raw.frame() is None


def test_a_refusal_says_why_and_ends_the_connection(asking: Any) -> None:
    raw = asking.dial(1)
    raw.ask(SaslHandshakeRequest(mechanism="PLAIN"), 1)
    wrong = encode_plain(Credentials(user=USER.user, password="guessed"))
    refused = raw.ask(SaslAuthenticateRequest(auth_bytes=wrong), 2)
    assert names(refused) == "SASL_AUTHENTICATION_FAILED"
    assert refused.error_message
    assert raw.frame() is None


def test_the_old_exchange_has_no_requests_around_its_messages(asking: Any) -> None:
    raw = asking.dial(1)
    raw.ask(SaslHandshakeRequest(mechanism="PLAIN"), 0)
    bare(raw, encode_plain(USER))
    assert raw.frame() == b""
    assert len(raw.ask(MetadataRequest(topics=None), 5).brokers) == 3


def test_the_old_exchange_refuses_without_a_word(asking: Any) -> None:
    raw = asking.dial(1)
    raw.ask(SaslHandshakeRequest(mechanism="PLAIN"), 0)
    bare(raw, encode_plain(Credentials(user="nobody", password="guessed")))
    assert raw.frame() is None


def test_where_nobody_is_asked_the_exchange_is_out_of_place(raw: Any) -> None:
    assert names(raw.ask(SaslHandshakeRequest(mechanism="PLAIN"), 1)) == "ILLEGAL_SASL_STATE"
    assert names(raw.ask(SaslAuthenticateRequest(auth_bytes=b""), 2)) == "ILLEGAL_SASL_STATE"
    assert raw.ask(MetadataRequest(topics=None), 5).brokers


def bare(raw: Any, message: bytes) -> None:
    raw.sock.sendall(len(message).to_bytes(4, "big") + message)
