"""`select`: wait for several channels at once. Source: The Go Programming Language Specification, "Select statements".

Of several cases that can proceed one is chosen by uniform chance, from the generator handed in: same seed, same choice.
A case on a nil channel (None) never proceeds.
"""

import asyncio
from random import Random
from typing import Any, NamedTuple

from client.golang.channel import Channel, Parked, Passed


class Send(NamedTuple):
    """`case channel <- value`."""

    channel: Channel[Any] | None
    value: object


class Receive(NamedTuple):
    """`case value, ok := <-channel`."""

    channel: Channel[Any] | None


Case = Send | Receive


Selected = Passed
"""Which case proceeded (its place among the cases), and what a receive brought."""


async def select(rng: Random, *cases: Case) -> Selected:
    """Wait until one case can proceed, and carry it out. Without a case that ever can, waits for ever."""
    chosen = select_or_default(rng, *cases)
    if chosen is not None:
        return chosen
    future: asyncio.Future[Passed] = asyncio.get_running_loop().create_future()
    parked: list[tuple[Channel[Any], Parked]] = []
    for index, case in enumerate(cases):
        channel = case.channel
        if channel is None:
            continue
        if isinstance(case, Send):
            parked.append((channel, channel.park_sender(future, index, case.value)))
        else:
            parked.append((channel, channel.park_receiver(future, index)))
    try:
        return await future
    finally:
        for channel, one in parked:
            channel.unpark(one)


def select_or_default(rng: Random, *cases: Case) -> Selected | None:
    """`select` with an empty default case: None where no case can proceed now. Never waits."""
    ready = [
        index
        for index, case in enumerate(cases)
        if (channel := case.channel) is not None
        and (channel.can_send() if isinstance(case, Send) else channel.can_receive())
    ]
    if not ready:
        return None
    index = ready[0] if len(ready) == 1 else ready[rng.randrange(len(ready))]
    case = cases[index]
    assert case.channel is not None
    if isinstance(case, Send):
        case.channel.offer(case.value)
        return Selected(index, None, True)
    taken = case.channel.take()
    assert taken is not None
    return Selected(index, *taken)
