"""Protects the breaker: it counts, opens, half-closes, and never tries anything again by itself."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from client.errors import ClientError
from client.profiles.sarama.breaker import Breaker
from client.profiles.sarama.errors import ERRORS_1_27


async def fail() -> None:
    raise ERRORS_1_27.sentinel("ErrOutOfBrokers")


async def succeed() -> None:
    pass


async def outcome(breaker: Breaker, work: Any) -> str:
    try:
        await breaker.run(work)
    except ClientError as error:
        return error.name
    return "ok"


def test_three_errors_open_it_ten_seconds_half_close_it_one_success_closes_it(
    on_virtual_time: Callable[..., Any],
) -> None:
    async def check(lab: Any) -> None:
        breaker = Breaker(lab.runtime, 3, 1, 10.0, name="breaker of orders/0")
        assert [await outcome(breaker, fail) for _ in range(4)] == ["ErrOutOfBrokers"] * 3 + ["breaker.ErrBreakerOpen"]
        await asyncio.sleep(9.99)
        assert await outcome(breaker, succeed) == "breaker.ErrBreakerOpen"
        await asyncio.sleep(0.02)
        assert await outcome(breaker, fail) == "ErrOutOfBrokers"  # half-open: one error opens it again
        assert await outcome(breaker, succeed) == "breaker.ErrBreakerOpen"
        await asyncio.sleep(10.01)
        assert await outcome(breaker, succeed) == "ok"
        assert [await outcome(breaker, fail) for _ in range(3)] == ["ErrOutOfBrokers"] * 3
        states = [event["outcome"] for event in lab.of("state", purpose="breaker of orders/0")]
        assert states == ["open", "half-open", "open", "half-open", "closed", "open"]

    on_virtual_time(check)


@pytest.mark.parametrize(("pause_s", "opens"), [(9.9, True), (10.1, False)])
def test_errors_further_apart_than_the_time_out_are_forgotten(
    on_virtual_time: Callable[..., Any], pause_s: float, opens: bool
) -> None:
    async def check(lab: Any) -> None:
        breaker = Breaker(lab.runtime, 3, 1, 10.0, name="breaker")
        for _ in range(3):
            await outcome(breaker, fail)
            await asyncio.sleep(pause_s)
        assert bool(lab.of("state", outcome="open")) is opens

    on_virtual_time(check)


def test_a_mistake_of_the_program_is_no_error_to_count(on_virtual_time: Callable[..., Any]) -> None:
    async def check(lab: Any) -> None:
        breaker = Breaker(lab.runtime, 1, 1, 10.0, name="breaker")

        async def broken() -> None:
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            await breaker.run(broken)
        assert await outcome(breaker, succeed) == "ok"

    on_virtual_time(check)
