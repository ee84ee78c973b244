"""A context, with the names of the settings that its deadline comes from, so that waits can be traced by them."""

import asyncio
from typing import NamedTuple

from client.golang import Context, background, with_deadline
from client.limit import Limit


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
