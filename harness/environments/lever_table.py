"""Which levers an environment pulls, and how: a table from a lever's type to the function that pulls it."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from harness.brokers.kind import cluster_kind
from harness.environments.world import ActiveLever, Supported, Unsupported
from harness.levers import LEVERS, Evidence, Lever

P = TypeVar("P")
L = TypeVar("L", bound=Lever)
Puller = Callable[[P, L], AbstractAsyncContextManager[ActiveLever]]


async def _nothing_beforehand() -> None:
    """Most levers stop at once when they are undone."""


@dataclass(slots=True)
class PulledLever:
    """An ActiveLever whose evidence a function collects; `begin` is what `begin_undoing` does."""

    began_ns: int
    confirmed_ns: int
    collect: Callable[[int | None, int | None], Awaitable[Evidence]]
    begin: Callable[[], Awaitable[None]] = _nothing_beforehand

    async def evidence(self, since_ns: int | None = None, until_ns: int | None = None) -> Evidence:
        return await self.collect(since_ns, until_ns)

    async def begin_undoing(self) -> None:
        await self.begin()


class LeverTable(Generic[P]):
    """The levers of one environment. A puller is given the opened world's parts, `P`, and the lever.

    A lever from outside the tree is added with `pulls`, as the bundled ones are.
    """

    def __init__(self) -> None:
        self._pullers: dict[type[Lever], tuple[Puller[P, Any], Callable[[Any], str | None]]] = {}

    def pulls(
        self, kind: type[L], unsupported_reason: Callable[[L], str | None] = lambda _: None
    ) -> Callable[[Puller[P, L]], Puller[P, L]]:
        """Register the function that pulls this type of lever.

        `unsupported_reason` says why the environment cannot pull a particular one, as the end of `sim cannot ...`.
        """

        def register(puller: Puller[P, L]) -> Puller[P, L]:
            self._pullers[kind] = (puller, unsupported_reason)
            return puller

        return register

    def supports(self, lever: Lever, cluster: str) -> Supported | Unsupported:
        """Whether the lever can be pulled on brokers of that kind. Pure: asked without an opened world."""
        if type(lever) not in self._pullers:
            tuple(LEVERS)  # another package may add it to this table with the lever itself
        if type(lever) not in self._pullers:
            return Unsupported(f"pull the lever {lever.name}: it has no way to do that")
        _, unsupported_reason = self._pullers[type(lever)]
        reason = unsupported_reason(lever) or "; ".join(map(str, cluster_kind(cluster).refuses(lever)))
        return Unsupported(reason) if reason else Supported()

    def pull(self, parts: P, lever: Lever) -> AbstractAsyncContextManager[ActiveLever]:
        """In force while the context is entered. Raises KeyError for a lever that is not supported."""
        puller, _ = self._pullers[type(lever)]
        return puller(parts, lever)
