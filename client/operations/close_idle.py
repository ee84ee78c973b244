"""Close the connections that nobody uses, and forget what was known of the cluster."""

from collections.abc import Mapping
from dataclasses import dataclass

from client.operations.base import Operation, optional_text
from client.operations.handles import MAIN


@dataclass(frozen=True, slots=True, kw_only=True)
class CloseIdle:
    """`handle` names the producer whose connections they are."""

    handle: str = MAIN


def _parse(arguments: Mapping[str, object]) -> CloseIdle:
    return CloseIdle(handle=optional_text(arguments, "handle") or MAIN)


CLOSE_IDLE = Operation("close_idle", _parse)
