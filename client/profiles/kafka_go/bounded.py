"""A context, with the names of the settings that its deadline comes from, so that waits can be traced by them."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from client.golang import Context, background, with_deadline
from client.limit import Limit
from client.operations import Context as Call


class Bounded(NamedTuple):
    """`settings` set the deadline of `ctx`; none where it has none, or where a caller gave it."""

    ctx: Context
    settings: tuple[str, ...] = ()

    def limit(self) -> Limit:
        """How long a wait that begins now may take."""
        if self.ctx.deadline_at is None:
            return Limit()
        return Limit(max(self.ctx.deadline_at - asyncio.get_running_loop().time(), 0.0), self.settings)

    def within(self, limit: Limit) -> "Bounded":
        """context.WithTimeout. The caller cancels its `ctx`."""
        deadline_at = asyncio.get_running_loop().time() + limit.seconds
        parent_at = self.ctx.deadline_at
        earlier = parent_at is not None and parent_at <= deadline_at
        return Bounded(with_deadline(self.ctx, deadline_at), self.settings if earlier else limit.settings)


def unbounded() -> Bounded:
    """context.Background()."""
    return Bounded(background())


@contextmanager
def calling(call: Call) -> Iterator[Bounded]:
    """The caller's ctx: it has the deadline that the caller gave, and ends with the subject."""
    with background() as outer:
        ctx = outer if call.deadline_at is None else with_deadline(outer, call.deadline_at)
        call.cancellation.on_cancel(ctx.cancel)
        yield Bounded(ctx)
