"""The registry of APIs: each file in `apis` gives one handler; versions outside its range are refused."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from client.extensions import modules
from client.wire.api import Api
from client.wire.messages import Request, prepare
from harness.brokers.embedded.cluster import ApiVersions
from harness.brokers.embedded.node import Node

Responder = Callable[[Any, Request], Awaitable[Any]]
"""Gives the response's body, or None where nothing is answered. Raises Disconnect. Its first argument is the Node, of
an API that authenticates the connection's Authentication."""


ErrorResponder = Callable[[Node, Request, int], Any]
"""Gives the response's body that refuses all of a request with an error code, as a broker that did nothing of it."""


@dataclass(frozen=True, slots=True)
class Handler:
    """`versions` are those that it can answer; which of them a broker speaks is part of the broker's state.
    `authenticates`: it answers for its connection, not for the broker."""

    api: Api[Any, Any]
    versions: range
    error_response: ErrorResponder
    answer: Responder
    authenticates: bool = False


def handles(
    api: Api[Any, Any], versions: range, error_response: ErrorResponder, *, authenticates: bool = False
) -> Callable[[Responder], Handler]:
    """Make a coroutine function the handler of an API."""
    if versions[0] not in api.versions or versions[-1] not in api.versions:
        raise ValueError(f"{api.name}: versions {versions[0]} to {versions[-1]} are not all known")

    def make(answer: Responder) -> Handler:
        return Handler(api, versions, error_response, answer, authenticates)

    return make


@cache
def handlers() -> dict[int, Handler]:
    """Every handler by its API's key, in the order of the keys."""
    found: dict[int, Handler] = {}
    for module in modules("harness.brokers.embedded.apis", "apis"):
        for value in vars(module).values():
            if isinstance(value, Handler):
                if value.api.key in found:
                    raise TypeError(f"two handlers for {value.api.name}")
                found[value.api.key] = value
    return dict(sorted(found.items()))


def api_names() -> tuple[str, ...]:
    """What levers call the APIs: `list_offsets`."""
    return tuple(sorted(handler.api.module for handler in handlers().values()))


@lru_cache
def spoken_versions(limits: ApiVersions | None) -> dict[int, range]:
    """The versions of each API that a broker with these `BrokerState.api_versions` speaks, in the order of the keys."""
    if limits is None:
        return {key: handler.versions for key, handler in handlers().items()}
    allowed = {key: range(low, high + 1) for key, low, high in limits}
    return {
        key: range(max(versions[0], allowed[key][0]), min(versions[-1], allowed[key][-1]) + 1)
        for key, handler in handlers().items()
        if (versions := handler.versions) and allowed.get(key)
    }


def prepare_all() -> None:
    """Build what every API and version needs: half a second, once a process; forked children have it from the start."""
    for handler in handlers().values():
        for version in handler.versions:
            prepare(handler.api, version)
