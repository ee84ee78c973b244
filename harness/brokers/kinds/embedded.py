"""The broker of `harness.brokers.embedded`."""

from harness.brokers.embedded.changes import unknown_api
from harness.brokers.embedded.intercepts import unsupported_reason
from harness.brokers.kind import CLUSTER_KINDS, EMBEDDED, ClusterKind
from harness.levers import CapVersions, ChangeCluster, Intercept, Lever

BROKER_BYTES = 10 << 20
"""Pages of its own that a forked broker comes to; the others stay shared with what it was forked from."""


def _refuses(lever: Lever) -> str | None:
    match lever:
        case Intercept():
            return unsupported_reason(lever)
        case ChangeCluster(change=CapVersions() as cap) if unknown := unknown_api(cap):
            return f"change {lever.where}: {unknown}"
    return None


CLUSTER_KINDS.add(
    EMBEDDED, ClusterKind(name=EMBEDDED, refuses=_refuses, memory_bytes=lambda brokers: brokers * BROKER_BYTES)
)
