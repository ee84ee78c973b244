"""Let handles that are constructed later share a pool of connections of their own."""

from collections.abc import Mapping
from dataclasses import dataclass

from client.operations.base import Operation, optional_text
from client.operations.handles import MAIN


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTransport:
    """`handle` names one that exists: the program around it has made a client before."""

    handle: str = MAIN


def _parse(arguments: Mapping[str, object]) -> NewTransport:
    return NewTransport(handle=optional_text(arguments, "handle") or MAIN)


NEW_TRANSPORT = Operation("new_transport", _parse)
