"""Toxics added to a broker's proxy and proven by a probe through it: what a Toxic lever does in every world."""

from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, asynccontextmanager
from typing import Any, Protocol

from harness.environments.lever_table import PulledLever
from harness.environments.probe import PROBES
from harness.environments.world import ActiveLever
from harness.levers import Evidence, Flow, Toxic
from harness.sightings import ConnectionSightings

_PROBE_LIMIT_S = 2.0
"""How long a probe waits beyond what the toxic itself declares."""


class ToxicProxies(Protocol):
    """The proxies of one world. `probes_from` is the address that the lab's own dials come from."""

    probes_from: str

    def address(self, broker: int) -> tuple[str, int]: ...

    async def add_toxic(self, lever: Toxic) -> Any:
        """Returns when it is in force; the result is what `remove_toxic` takes."""
        ...

    async def remove_toxic(self, lever: Toxic, added: Any) -> None: ...

    def watch_data(self, broker: int, flow: Flow) -> AbstractContextManager[ConnectionSightings]:
        """See every segment with payload between the client and this broker while the context is entered."""
        ...


class ToxicLevers:
    """Pulls Toxic levers. `quick_share`: a probe before the toxic is repeated for a moment where its round trip takes
    longer than this share of the delay, as on a busy machine; a proof lets it be off by twice as much."""

    def __init__(self, proxies: ToxicProxies, now_ns: Callable[[], int], *, quick_share: float) -> None:
        self._proxies = proxies
        self._now_ns = now_ns
        self._quick_share = quick_share
        self._delays_s: dict[int, float] = defaultdict(float)

    @asynccontextmanager
    async def pull(self, lever: Toxic) -> AsyncIterator[ActiveLever]:
        probe = PROBES[lever.evidence](
            self._proxies.address(lever.broker),
            limit_s=_PROBE_LIMIT_S + 2 * lever.declared_s,
            fast_enough_s=self._delays_s[lever.broker] + self._quick_share * lever.declared_s,
            source=self._proxies.probes_from,
        )
        await probe.measure_before()
        with self._proxies.watch_data(lever.broker, lever.flow) as data:
            began_ns = self._now_ns()
            added = await self._proxies.add_toxic(lever)
            confirmed_ns = self._now_ns()
            self._delays_s[lever.broker] += lever.declared_s

            async def collect(since_ns: int | None, until_ns: int | None) -> Evidence:
                whole = since_ns is None and until_ns is None
                met = whole or data.packets(since_ns, until_ns) > 0
                return await probe.evidence() if met else lever.evidence()

            try:
                probe.start_measuring_after()
                yield PulledLever(began_ns, confirmed_ns, collect)
            finally:
                self._delays_s[lever.broker] -= lever.declared_s
                await probe.close()
                await self._proxies.remove_toxic(lever, added)
