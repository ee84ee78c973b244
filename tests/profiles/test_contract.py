"""What every profile has to keep, whatever its client is like: each release of each profile passes all of this."""

import asyncio
from types import CoroutineType
from typing import Any

import pytest
from bench_of_one import Bench, on_bench, unreachable_broker

from client.errors import SettingError
from client.operations import CommandError
from client.profiles import Profile, check_release, profile, profiles
from harness.operations import OPERATIONS

RELEASES = [pytest.param(one, release, id=f"{one.name}@{release}") for one in profiles().values() for release in
            one.releases]  # fmt: skip
PRODUCERS = [
    pytest.param(one, one.releases[-1], producer, id=f"{one.name}-{producer}")
    for one in profiles().values()
    for producer in (None, *one.producers)
]
ARGUMENTS: dict[str, dict[str, object]] = {
    "connect": {},
    "send": {"topic": "orders", "value": "x"},
    "create_topics": {"topic": "fresh"},
    "list_offsets": {"topic": "orders"},
    "close_idle": {},
    "dial": {},
    "lookup_partition": {"topic": "orders"},
    "lookup_leader": {"topic": "orders"},
    "lookup_partitions": {"topic": "orders"},
    "dial_leader": {"topic": "orders"},
    "dial_partition": {"topic": "orders"},
    "new_transport": {},
    "close": {},
}
"""Of every operation that a profile may have: a new one adds its own."""


@pytest.mark.parametrize(("one", "release", "producer"), [*((*one.values, None) for one in RELEASES), *PRODUCERS])
def test_every_operation_returns_the_fields_that_it_is_said_to(
    one: Profile, release: str, producer: str | None
) -> None:
    async def check(bench: Bench) -> None:
        assert set(bench.session.handlers) <= set(ARGUMENTS)
        for operation, arguments in ARGUMENTS.items():
            if operation in bench.session.handlers:
                found = await bench.call(operation, **arguments)
                assert set(found) == {field.name for field in OPERATIONS[operation].result}
        assert bench.session.handles.closed

    on_bench(check, one, release, producer=producer)


@pytest.mark.parametrize(("one", "release", "producer"), PRODUCERS)
def test_each_producer_leaves_nothing_running_once_it_is_closed(
    one: Profile, release: str, producer: str | None
) -> None:
    async def check(bench: Bench) -> None:
        before = asyncio.all_tasks()
        await bench.call("connect")
        await bench.call("send", **ARGUMENTS["send"])
        await bench.call("close")
        await asyncio.sleep(1)
        assert [task.get_name() for task in asyncio.all_tasks() - before if _is_the_clients(task)] == []

    one.check_producer(producer)
    on_bench(check, one, release, producer=producer)


def _is_the_clients(task: "asyncio.Task[Any]") -> bool:
    coroutine = task.get_coro()
    assert isinstance(coroutine, CoroutineType)
    return "/client/" in coroutine.cr_code.co_filename


@pytest.mark.parametrize(("one", "release"), RELEASES)
def test_handles_are_opened_and_closed_by_themselves(one: Profile, release: str) -> None:
    async def check(bench: Bench) -> None:
        await bench.call("connect")
        await bench.call("connect", handle="second")
        with pytest.raises(CommandError, match="already, or one on its way"):
            await bench.call("connect", handle="second")
        await bench.call("send", **ARGUMENTS["send"], handle="second")
        await bench.call("close", handle="second")
        with pytest.raises(CommandError, match="second before a connect has succeeded"):
            await bench.call("send", **ARGUMENTS["send"], handle="second")
        assert not bench.session.handles.closed
        await bench.call("send", **ARGUMENTS["send"])
        await bench.call("connect", handle="second")
        await bench.call("close")
        assert bench.session.handles.closed
        with pytest.raises(CommandError, match="closing"):
            await bench.call("connect", handle="third")

    bench = on_bench(check, one, release)
    dialled = [fields["connection"] for _, kind, fields in bench.events if kind == "dial_started"]
    assert len(set(dialled)) == len(dialled) >= 2, "every dial of the subject has a number of its own"


@pytest.mark.parametrize(("one", "release"), RELEASES)
def test_a_failed_connect_can_be_tried_again(one: Profile, release: str) -> None:
    async def check(bench: Bench) -> None:
        with unreachable_broker(bench.loop):
            failed = await bench.error_of("connect")
        if failed is not None:
            assert failed.name
            assert failed.text
            await bench.call("connect")
        await bench.call("send", **ARGUMENTS["send"])

    on_bench(check, one, release)


@pytest.mark.parametrize(("one", "release"), RELEASES)
def test_every_wait_ends_and_names_settings_that_exist(one: Profile, release: str) -> None:
    async def check(bench: Bench) -> None:
        await bench.call("connect")
        await bench.call("send", **ARGUMENTS["send"])
        with unreachable_broker(bench.loop):
            assert await bench.error_of("send", **ARGUMENTS["send"]) is not None
            await bench.call("close")
            await asyncio.sleep(60)

    events = on_bench(check, one, release).events
    known = {setting.name for setting in one.settings.for_release(release)}
    waits = [(kind, fields) for _, kind, fields in events if kind in ("wait_started", "wait_ended")]
    assert waits
    for _, fields in waits:
        assert set(str(fields["waiting_on"]).split(" + ")) <= known
    by_wait = [(fields["waiting_on"], fields["purpose"], fields.get("connection")) for _, fields in waits]
    assert all(by_wait.count(wait) % 2 == 0 for wait in by_wait), "a wait that starts ends"


@pytest.mark.parametrize(("one", "release"), RELEASES)
@pytest.mark.parametrize("operation", ["connect", "send"])
def test_a_cancelled_operation_ends_at_once(one: Profile, release: str, operation: str) -> None:
    async def check(bench: Bench) -> None:
        if operation == "send":
            await bench.call("connect")
        with unreachable_broker(bench.loop):
            calling = asyncio.create_task(bench.call(operation, **ARGUMENTS[operation]))
            await asyncio.sleep(0.1)
            if operation == "connect" and calling.done():
                return  # its constructor dials nothing
            cancelled_at = bench.loop.time()
            calling.cancel()
            with pytest.raises(asyncio.CancelledError):
                await calling
            assert bench.loop.time() == cancelled_at

    on_bench(check, one, release)


@pytest.mark.parametrize(("one", "release"), RELEASES)
def test_the_same_seed_gives_the_same_events(one: Profile, release: str) -> None:
    async def check(bench: Bench) -> None:
        await bench.call("connect")
        await bench.call("send", **ARGUMENTS["send"])
        with unreachable_broker(bench.loop):
            await bench.error_of("send", **ARGUMENTS["send"])
        await bench.call("send", **ARGUMENTS["send"])
        await bench.call("close")

    first, again = (on_bench(check, one, release, seed=11).events for _ in range(2))
    assert first
    assert first == again


@pytest.mark.parametrize(("one", "release"), RELEASES)
def test_arguments_that_cannot_be_followed_are_refused_before_the_client_is_asked(one: Profile, release: str) -> None:
    async def check(bench: Bench) -> None:
        for operation in bench.session.handlers:
            with pytest.raises(CommandError, match="handle is no text"):
                await bench.call(operation, **{**ARGUMENTS[operation], "handle": 1})
        with pytest.raises(CommandError, match="topic is missing"):
            await bench.call("send", value="x")
        with pytest.raises(CommandError, match="before a connect has succeeded"):
            await bench.call("send", **ARGUMENTS["send"])

    assert not on_bench(check, one, release).events


@pytest.mark.parametrize(("one", "release"), RELEASES)
def test_settings_that_do_not_exist_are_refused_with_the_nearest(one: Profile, release: str) -> None:
    name = one.settings.for_release(release)[0].name
    with pytest.raises(SettingError) as caught:
        one.settings.resolve({f"{name}x": 1}, release)
    assert caught.value.suggestion == name


@pytest.mark.parametrize("one", profiles().values(), ids=tuple(profiles()))
def test_what_a_profile_does_not_have_is_refused_with_the_nearest(one: Profile) -> None:
    with pytest.raises(SettingError) as caught:
        check_release(one, f"{one.releases[0]}0")
    assert caught.value.suggestion == one.releases[0]
    with pytest.raises(SettingError) as caught:
        profile(f"{one.name}x")
    assert caught.value.suggestion == one.name
    with pytest.raises(SettingError, match="has no producer"):
        one.check_producer("no such producer")


@pytest.mark.parametrize("one", profiles().values(), ids=tuple(profiles()))
def test_a_profile_says_why_an_operation_takes_no_deadline(one: Profile) -> None:
    async def check(bench: Bench) -> None:
        assert set(one.no_deadline) <= set(bench.session.handlers)

    on_bench(check, one, one.releases[-1])
    assert all(one.no_deadline.values())


@pytest.mark.parametrize(("one", "release"), RELEASES)
def test_defaults_resolve_and_conflict_with_nothing(one: Profile, release: str) -> None:
    one.prepare()
    settings = one.settings.resolve({}, release)
    assert set(settings) == {setting.name for setting in one.settings.for_release(release)}
    assert not one.conflicts(settings)
