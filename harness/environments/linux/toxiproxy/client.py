"""Toxiproxy's control: toxiproxy-python wrapped whole. Every write is read back, so that what returns, holds.

Removing a toxic can hang the server: it waits for the toxic's goroutine, and where the receiving socket is dark and
full, that one waits for ever, with the proxy's lock held (Source: Shopify/toxiproxy v2.12.0 link.go RemoveToxic,
toxics/toxic.go InterruptToxic). Nothing heals such a server; the call fails after its time-out, and the run with it.
"""

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import toxiproxy

from harness.environments.linux.toxiproxy.http_transport import HttpTransport, ToxiproxyFailed

T = TypeVar("T")

_TIMEOUT_S = 8.0
"""Above the longest that a healthy server waits by itself: 5 s to flush a chunk past a removed toxic (link.go)."""

Stream = Literal["upstream", "downstream"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyState:
    """A proxy as the server describes it; addresses are `host:port`, `toxics` the names of its toxics."""

    name: str
    listen: str
    upstream: str
    enabled: bool
    toxics: tuple[str, ...] = ()


class BlockingToxiproxy:
    """One server, by blocking calls. Every method raises ToxiproxyFailed. Not for several threads at once."""

    def __init__(self, host: str, port: int, *, timeout_s: float = _TIMEOUT_S) -> None:
        self._transport = HttpTransport(host, port, timeout_s)
        self._library = toxiproxy.Toxiproxy()

    def version(self) -> str:
        with self._transport.routing_calls():
            # The library's version() first dials its class-global host.
            return str(self._transport.request("GET", "/version").json().get("version"))

    def proxies(self) -> dict[str, ProxyState]:
        with self._transport.routing_calls():
            return {
                name: ProxyState(
                    name=name,
                    listen=proxy.listen,
                    upstream=proxy.upstream,
                    enabled=bool(proxy.enabled),
                    toxics=tuple(proxy.toxics()),
                )
                for name, proxy in self._library.proxies().items()
            }

    def create(self, name: str, *, listen: str, upstream: str) -> None:
        """Make a proxy that listens when this returns."""
        with self._transport.routing_calls():
            self._library.create(upstream=upstream, name=name, listen=listen, enabled=True)
            proxy = self._proxy(name)
        wanted = (listen, upstream, True)
        found = (proxy.listen, proxy.upstream, proxy.enabled)
        if found != wanted:
            raise ToxiproxyFailed(f"Toxiproxy made proxy {name} as {found} where {wanted} was asked for")

    def destroy(self, name: str) -> None:
        with self._transport.routing_calls():
            self._proxy(name).destroy()
            if name in self._library.proxies():
                raise ToxiproxyFailed(f"Toxiproxy still has proxy {name} after its removal")

    def enable(self, name: str) -> None:
        """Listen again."""
        with self._transport.routing_calls():
            self._proxy(name).enable()
            if not self._proxy(name).enabled:
                raise ToxiproxyFailed(f"Toxiproxy says that proxy {name} is disabled after it was enabled")

    def disable(self, name: str) -> None:
        """Listen no more, and close the proxy's connections."""
        with self._transport.routing_calls():
            self._proxy(name).disable()
            if self._proxy(name).enabled:
                raise ToxiproxyFailed(f"Toxiproxy says that proxy {name} is enabled after it was disabled")

    def add_toxic(
        self, proxy: str, name: str, *, kind: str, stream: Stream, attributes: Mapping[str, int], toxicity: float = 1.0
    ) -> None:
        """Add a toxic, in Toxiproxy's own words and units. An attribute that the server does not know is an error."""
        with self._transport.routing_calls():
            target = self._proxy(proxy)
            target.add_toxic(type=kind, stream=stream, name=name, toxicity=toxicity, attributes=dict(attributes))
            added = target.get_toxic(name)
        if added is None:
            raise ToxiproxyFailed(f"Toxiproxy does not list toxic {name} of proxy {proxy} after adding it")
        # The server keeps a toxicity in single precision.
        wanted: dict[str, object] = {"type": kind, "stream": stream, "toxicity": round(toxicity, 6), **attributes}
        kept = {"type": added.type, "stream": added.stream, "toxicity": round(added.toxicity, 6)}
        found = {**kept, **added.attributes}
        wrong = {key: found.get(key) for key, value in wanted.items() if found.get(key) != value}
        if wrong:
            raise ToxiproxyFailed(
                f"Toxiproxy's toxic {name} of proxy {proxy} has {wrong} where "
                f"{ {key: wanted[key] for key in wrong} } was asked for"
            )

    def spare_connections(self, proxy: str, name: str) -> None:
        """Have a toxic affect no connection, open ones included: its toxicity becomes 0. It ends none by that."""
        with self._transport.routing_calls():
            # The library changes no toxic.
            self._transport.request("POST", f"/proxies/{proxy}/toxics/{name}", json={"toxicity": 0.0})
            kept = self._proxy(proxy).get_toxic(name)
        if kept is None or kept.toxicity != 0:
            raise ToxiproxyFailed(f"Toxiproxy's toxic {name} of proxy {proxy} did not take the toxicity 0")

    def remove_toxic(self, proxy: str, name: str) -> None:
        with self._transport.routing_calls():
            target = self._proxy(proxy)
            target.destroy_toxic(name)
            if target.get_toxic(name) is not None:
                raise ToxiproxyFailed(f"Toxiproxy still lists toxic {name} of proxy {proxy} after its removal")

    def reset(self) -> None:
        """Enable every proxy and remove every toxic."""
        with self._transport.routing_calls():
            self._library.reset()
        left = [state for state in self.proxies().values() if state.toxics or not state.enabled]
        if left:
            raise ToxiproxyFailed(f"Toxiproxy left {left} after a reset")

    def _proxy(self, name: str) -> Any:
        proxy = self._library.get_proxy(name)
        if proxy is None:
            raise ToxiproxyFailed(f"Toxiproxy at {self._transport.address} has no proxy {name}")
        return proxy

    def close(self) -> None:
        self._transport.close()


class ToxiproxyClient:
    """The same on the running asyncio loop: calls happen one after the other in a thread of their own."""

    def __init__(self, host: str, port: int, *, timeout_s: float = _TIMEOUT_S) -> None:
        self._blocking = BlockingToxiproxy(host, port, timeout_s=timeout_s)
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="toxiproxy")

    async def call(self, what: Callable[[BlockingToxiproxy], T]) -> T:
        """`await client.call(lambda server: server.disable("broker-1"))`. Raises ToxiproxyFailed.

        A cancelled caller continues at once; the call itself ends by its own timeout.
        """
        return await asyncio.get_running_loop().run_in_executor(self._thread, what, self._blocking)

    def close(self) -> None:
        """Close without waiting for a call that hangs."""
        self._thread.shutdown(wait=False, cancel_futures=True)
        self._blocking.close()
