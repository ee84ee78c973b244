"""Close the whole client, or one of its handles."""

from collections.abc import Mapping
from dataclasses import dataclass

from client.operations.base import Operation, optional_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Close:
    """`handle` is None for the whole client."""

    handle: str | None = None


def _parse(arguments: Mapping[str, object]) -> Close:
    return Close(handle=optional_text(arguments, "handle"))


CLOSE = Operation("close", _parse)
