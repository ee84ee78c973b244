"""Construct the client, or another of its producers."""

from collections.abc import Mapping
from dataclasses import dataclass

from client.operations.base import Operation, optional_text
from client.operations.handles import MAIN


@dataclass(frozen=True, slots=True, kw_only=True)
class Connect:
    """`handle` is the name of what is constructed."""

    handle: str = MAIN


def _parse(arguments: Mapping[str, object]) -> Connect:
    return Connect(handle=optional_text(arguments, "handle") or MAIN)


CONNECT = Operation("connect", _parse)
