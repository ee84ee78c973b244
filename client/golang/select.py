"""`select`: wait for several channels at once. Source: The Go Programming Language Specification, "Select statements".

Of several cases that can proceed one is chosen by uniform chance, from the generator handed in: same seed, same choice.
A case on a nil channel (None) never proceeds.
"""

from collections.abc import Mapping
from random import Random
from typing import Any, NamedTuple

from client.golang.channel import Channel, Completion, ParkedOperation
from client.golang.scheduler import Waiter


class Send(NamedTuple):
    """`case channel <- value`."""

    channel: Channel[Any] | None
    value: object


class Receive(NamedTuple):
    """`case value, ok := <-channel`."""

    channel: Channel[Any] | None


SelectCase = Send | Receive


Selected = Completion
"""The name of the case that proceeded, and what a receive brought."""


async def select(rng: Random, **cases: SelectCase) -> Selected:
    """Wait until one case can proceed, and carry it out. Without a case that ever can, waits for ever."""
    chosen = _proceed(rng, cases)
    if chosen is not None:
        return chosen
    waiter: Waiter[Completion] = Waiter()
    parked: list[tuple[Channel[Any], ParkedOperation]] = []
    for name, case in cases.items():
        channel = case.channel
        if channel is None:
            continue
        if isinstance(case, Send):
            parked.append((channel, channel.park_sender(waiter, name, case.value)))
        else:
            parked.append((channel, channel.park_receiver(waiter, name)))
    try:
        await waiter
    finally:
        for channel, one in parked:
            channel.unpark(one)
    return waiter.value


def select_or_default(rng: Random, **cases: SelectCase) -> Selected | None:
    """`select` with an empty default case: None where no case can proceed now. Never waits."""
    return _proceed(rng, cases)


def _proceed(rng: Random, cases: Mapping[str, SelectCase]) -> Selected | None:
    ready = [
        name
        for name, case in cases.items()
        if (channel := case.channel) is not None
        and (channel.can_send() if isinstance(case, Send) else channel.can_receive())
    ]
    if not ready:
        return None
    name = ready[0] if len(ready) == 1 else ready[rng.randrange(len(ready))]
    case = cases[name]
    assert case.channel is not None
    if isinstance(case, Send):
        case.channel.try_send(case.value)
        return Selected(name, None, True)
    taken = case.channel.try_receive()
    assert taken is not None
    return Selected(name, *taken)
