"""Protects the Dialer's clocks: what limits a dial, what limits a look-up, and what is dialled at all."""

import asyncio

import pytest
from kafka_go_lab import PORT, RELEASES, ROUND_TRIPS_S, V8, V9, V50, Lab, Program, on_virtual_time

from client.errors import SettingError
from client.operations import CommandError
from client.settings import SettingValue
from harness.levers import ErrorAnswer, LateHandling, RemoveLeader, Silence

DARK = f"127.0.2.9:{PORT}"


async def dialer(lab: Lab, **settings: SettingValue) -> Program:
    return await lab.program(producer="Dialer", **settings).connect()


def times_of(lab: Lab, api: str) -> list[float]:
    return [at_s for at_s, _ in lab.of("request_sent", api=api)]


@pytest.mark.parametrize("version", RELEASES)
@pytest.mark.parametrize(
    ("settings", "deadline_s", "expected_s"),
    [
        ({"Dialer_Timeout": 0.4}, None, 0.4),
        ({"Dialer_Timeout": 0.0, "Dialer_Deadline": 0.5}, None, 0.5),
        ({"Dialer_Timeout": 0.4, "Dialer_Deadline": 0.7}, None, 0.4),
        ({"Dialer_Timeout": 0.7, "Dialer_Deadline": 0.5}, None, 0.5),
        ({"Dialer_Timeout": 0.7, "Dialer_Deadline": 0.5}, 0.3, 0.3),
        ({}, None, 10.0),
        ({"Dialer_Timeout": -1.0}, None, 0.0),
        ({"Dialer_DialFunc": "own", "NetDialer_Timeout": 0.3, "Dialer_Timeout": 0.6}, None, 0.3),
        ({"Dialer_DialFunc": "own", "NetDialer_Timeout": 0.9, "Dialer_Timeout": 0.6}, None, 0.6),
    ],
)
def test_the_first_limit_ends_a_dial(
    version: str, settings: dict[str, SettingValue], deadline_s: float | None, expected_s: float
) -> None:
    async def check(lab: Lab) -> None:
        program = await dialer(lab, **settings)
        with lab.dark(1):
            took_s, error = await program.ended(program.call("dial", "d", deadline_s))
        assert took_s == pytest.approx(expected_s)
        assert error is not None
        assert error.name == "Timeout"
        assert error.text.endswith("dial tcp 127.0.2.1:9092: i/o timeout")

    on_virtual_time(check, version)


@pytest.mark.parametrize("version", RELEASES)
def test_an_unknown_partition_is_asked_for_until_the_context_ends(version: str) -> None:
    async def check(lab: Lab) -> None:
        program = await dialer(lab, Dialer_Timeout=0.5)
        began_at = lab.loop.time()
        took_s, error = await program.ended(program.call("lookup_partition", "l", 6.0, topic="nobody"))
        assert took_s == pytest.approx(6.0)
        assert error is not None
        assert (error.name, error.text) == ("Timeout", "context deadline exceeded")
        asked_s = [at_s - began_at for at_s in times_of(lab, "Metadata")]
        assert asked_s == pytest.approx([0, 0.1, 0.5, 1.4, 3.0, 5.5], abs=ROUND_TRIPS_S)
        assert len(lab.of("dial_started")) == 1
        await asyncio.sleep(60)
        assert len(times_of(lab, "Metadata")) == 6, "the look-up has ended with its connection"

    on_virtual_time(check, version)


@pytest.mark.parametrize("version", RELEASES)
def test_timeout_and_deadline_do_not_limit_a_look_up(version: str) -> None:
    async def check(lab: Lab) -> None:
        program = await dialer(lab, Dialer_Timeout=0.5, Dialer_Deadline=1.0)
        with lab.answering("metadata", Silence()):
            took_s, error = await program.ended(program.call("lookup_partition", "l", 30.0, topic="orders"))
        assert took_s == pytest.approx(30.0)
        assert error is not None
        assert error.text == "context deadline exceeded"

    on_virtual_time(check, version)


@pytest.mark.parametrize(("version", "answers"), [(V8, 1), (V9, 1), (V50, 2)])
def test_the_newer_release_asks_for_versions_before_its_first_look_up(version: str, answers: int) -> None:
    async def check(lab: Lab) -> None:
        program = await dialer(lab)
        with lab.answering("all", LateHandling(seconds=0.4)):
            took_s, error = await program.ended(program.call("lookup_partition", "l", topic="orders"))
        assert error is None
        assert took_s == pytest.approx(answers * 0.4, abs=ROUND_TRIPS_S)
        assert len(lab.of("request_sent", api="ApiVersions")) == answers - 1

    on_virtual_time(check, version)


@pytest.mark.parametrize("version", RELEASES)
def test_only_temporary_errors_are_asked_again(version: str) -> None:
    async def check(lab: Lab) -> None:
        program = await dialer(lab)
        for code, name, expected_s in (
            ("TOPIC_AUTHORIZATION_FAILED", "TopicAuthorizationFailed", 0.0),
            ("LEADER_NOT_AVAILABLE", "Timeout", 2.0),
        ):
            with lab.answering("metadata", ErrorAnswer(error=code)):
                took_s, error = await program.ended(program.call("lookup_partition", code, 2.0, topic="orders"))
            assert took_s == pytest.approx(expected_s, abs=ROUND_TRIPS_S)
            assert error is not None
            assert error.name == name
            with lab.answering("metadata", ErrorAnswer(error=code)):
                took_s, error = await program.ended(program.call("lookup_partitions", f"all {code}", topic="orders"))
            assert error is not None
            assert took_s < ROUND_TRIPS_S, "all partitions are asked for once"

    on_virtual_time(check, version)


@pytest.mark.parametrize("version", RELEASES)
def test_a_message_goes_to_the_leader_that_was_dialled(version: str) -> None:
    async def check(lab: Lab) -> None:
        program = await dialer(lab)
        assert await program.call("lookup_partition", "l", topic="both", partition=0) == {
            "leader": 1,
            "address": f"127.0.2.1:{PORT}",
        }
        assert await program.call("lookup_partitions", "ls", topic="both") == {"leaders": "0:1 1:2"}
        assert await program.call("dial_leader", "d", topic="both", partition=1) == {"address": f"127.0.2.2:{PORT}"}
        assert await program.call("dial_partition", "p", topic="both", partition=0) == {"address": f"127.0.2.1:{PORT}"}
        before = len(lab.of("dial_started"))
        for number in range(2):
            sent = await program.send(str(number), topic="both", partition=1)
            assert sent == {"partition": 1, "offset": number}
        assert len(lab.of("dial_started")) == before
        await program.send("undialled", topic="orders")
        assert len(lab.of("dial_started")) == before + 2, "a look-up and a dial"
        await program.close()
        opened, closed = (
            {fields["connection"] for _, fields in lab.of(kind)} for kind in ("dial_started", "connection_closed")
        )
        assert opened == closed

    on_virtual_time(check, version, brokers=2)


@pytest.mark.parametrize("version", RELEASES)
def test_a_partition_without_a_leader_is_dialled_at_port_0(version: str) -> None:
    async def check(lab: Lab) -> None:
        program = await dialer(lab)
        lab.controller.change(RemoveLeader(topic="orders", partition=0))
        assert await program.call("lookup_leader", "l", topic="orders") == {"leader": 0, "address": ":0"}
        took_s, error = await program.ended(program.call("dial_leader", "d", 5.0, topic="orders"))
        assert took_s < ROUND_TRIPS_S
        assert error is not None
        assert error.name == "net.OpError"
        assert error.text.endswith("dial tcp :0: connect: connection refused")

    on_virtual_time(check, version)


@pytest.mark.parametrize("version", RELEASES)
def test_only_the_first_of_the_resolvers_hosts_is_dialled(version: str) -> None:
    async def check(lab: Lab) -> None:
        program = await dialer(lab, Dialer_Timeout=0.5, Dialer_Resolver="127.0.2.9 127.0.2.1")
        with lab.dark(9):
            took_s, error = await program.ended(program.call("dial", "d", address="kafka:9092"))
        assert took_s == pytest.approx(0.5)
        assert error is not None
        assert [fields["address"] for _, fields in lab.of("dial_started")] == [DARK]

    on_virtual_time(check, version)


WRAPPED = "failed to dial: failed to resolve host: failed to resolve host kafka: lookup kafka: no such host"


@pytest.mark.parametrize(
    ("version", "resolver", "address", "dialled"),
    [
        (V8, "127.0.2.1", "kafka", "127.0.2.1:9092"),
        (V8, "127.0.2.1:9999", "kafka", "127.0.2.1:9999"),
        (V8, "127.0.2.1:9999", "kafka:9092", "127.0.2.1:9092"),
        (V8, "none", "127.0.2.1", "127.0.2.1:9092"),
        (V8, "fails", "kafka", "lookup kafka: no such host"),
        (V50, "127.0.2.1:9999", "kafka", "127.0.2.1:9092"),
        (V50, "127.0.2.1:9999", "kafka:", "127.0.2.1:9999"),
        (V50, "fails", "kafka", WRAPPED),
        (V50, "system", "kafka", WRAPPED),
        (V50, "system", "localhost", "127.0.0.1:9092"),
    ],
)
def test_what_an_address_comes_to(version: str, resolver: str, address: str, dialled: str) -> None:
    async def check(lab: Lab) -> None:
        program = await dialer(lab, Dialer_Resolver=resolver)
        _, error = await program.ended(program.call("dial", "d", address=address))
        started = [fields["address"] for _, fields in lab.of("dial_started")]
        if started:
            assert started == [dialled]
        else:
            assert error is not None
            assert (error.name, error.text) == ("net.DNSError", dialled)

    on_virtual_time(check, version)


@pytest.mark.parametrize(("address", "works"), [("127.0.0.9", True), ("127.0.0.9:4000", True), ("192.0.2.1", False)])
def test_connections_are_bound_to_the_local_address(address: str, works: bool) -> None:
    async def check(lab: Lab) -> None:
        program = await dialer(lab, Dialer_LocalAddr=address)
        took_s, error = await program.ended(program.call("dial", "d"))
        assert took_s < ROUND_TRIPS_S
        assert (error is None) is works
        if error is not None:
            assert error.text.endswith("dial tcp 192.0.2.1:0->127.0.2.1:9092: bind: cannot assign requested address")
        local = {socket.local[0] for socket in lab.loop.network.sockets.values() if socket.remote[1] == PORT}
        assert local == ({"127.0.0.9"} if works else set())

    on_virtual_time(check, V50)


@pytest.mark.parametrize("version", RELEASES)
def test_brokers_see_the_client_id_and_the_transactional_id(version: str) -> None:
    async def check(lab: Lab) -> None:
        program = await dialer(lab, Dialer_ClientID="orders", Dialer_TransactionalID="tx-1")
        refused = ErrorAnswer(error="TRANSACTIONAL_ID_AUTHORIZATION_FAILED")
        with lab.answering("produce", refused, transactional_id="tx-2"):
            assert (await program.ended(program.send("others")))[1] is None
        with lab.answering("produce", refused, transactional_id="tx-1"):
            _, error = await program.ended(program.send("ours"))
        assert error is not None
        assert error.name == "TransactionalIDAuthorizationFailed"
        for name, late_s in (("orders", 0.4), ("payments", 0.0)):
            with lab.answering("metadata", LateHandling(seconds=0.4), client_id=name):
                took_s, error = await program.ended(program.call("lookup_leader", name, topic="orders"))
            assert error is None
            assert took_s == pytest.approx(late_s, abs=ROUND_TRIPS_S)

    on_virtual_time(check, version)


@pytest.mark.parametrize("version", RELEASES)
def test_a_message_waits_for_its_own_deadline_alone(version: str) -> None:
    async def check(lab: Lab) -> None:
        program = await dialer(lab, Dialer_Timeout=0.5)
        await program.send("warm")
        with lab.dark(1):
            took_s, error = await program.ended(program.send("probe", 2.0))
            assert took_s == pytest.approx(2.0)
            assert error is not None
            assert error.text.endswith("i/o timeout")
            took_s, _ = await program.ended(program.send("dialled"))
            assert took_s == pytest.approx(0.5), "the connection of the one before is closed"

    on_virtual_time(check, version)


def test_a_mechanism_without_credentials_is_refused_when_the_dialer_is_made() -> None:
    async def check(lab: Lab) -> None:
        with pytest.raises(SettingError, match="the launch record has no sasl"):
            await dialer(lab, Dialer_SASLMechanism="PLAIN")

    on_virtual_time(check, V50)


def test_a_partition_is_dialled_only_after_a_look_up() -> None:
    async def check(lab: Lab) -> None:
        program = await dialer(lab)
        with pytest.raises(CommandError, match="orders/0 has not been looked up before"):
            await program.call("dial_partition", "p", topic="orders")

    on_virtual_time(check, V50)


def test_new_writer_dials_as_its_dialer_says() -> None:
    """Its dials take Deadline, Resolver and LocalAddr from a Dialer, too."""

    async def check(lab: Lab) -> None:
        resolved = lab.program(producer="NewWriter", WriterConfig_BatchSize=1, Dialer_Resolver="127.0.2.1")
        await (await resolved.connect()).send("found")
        late = await lab.program(producer="NewWriter", WriterConfig_BatchSize=1, Dialer_Deadline=0.7).connect()
        with lab.dark(1):
            took_s, error = await late.ended(late.send("late"))
        assert took_s == pytest.approx(0.7)
        assert error is not None

    on_virtual_time(check, V50)
