"""The broker of `harness.brokers.embedded`."""

from harness.brokers.embedded.handlers import api_names
from harness.brokers.embedded.intercepts import EVERY_API, NO_ERROR, error_names
from harness.brokers.embedded.model import EmbeddedModel
from harness.brokers.kind import CLUSTER_KINDS, EMBEDDED, ClusterKind, Refusal
from harness.levers import CapVersions, ChangeCluster, ErrorAnswer, Intercept, Lever, is_request

BROKER_BYTES = 10 << 20
"""Pages of its own that a forked broker comes to; the others stay shared with what it was forked from."""


def _refuses(lever: Lever) -> tuple[Refusal, ...]:
    match lever:
        case Intercept(api=api, answer=answer):
            requests = (api,) if is_request(api) else ()
            unknown = _unknown_apis(f"intercept {api} requests", requests, (EVERY_API, *api_names()))
            return unknown + (_unknown_error(answer.error) if isinstance(answer, ErrorAnswer) else ())
        case ChangeCluster(change=CapVersions(highest=highest)):
            return _unknown_apis(f"change {lever.where}", tuple(highest), api_names())
    return ()


def _unknown_apis(doing: str, names: tuple[str, ...], known: tuple[str, ...]) -> tuple[Refusal, ...]:
    return tuple(
        Refusal(code="unknown-api", doing=doing, reason=f"brokers have no API `{name}`", name=name, known=known)
        for name in names
        if name not in known
    )


def _unknown_error(name: str) -> tuple[Refusal, ...]:
    known = error_names()
    if name in known:
        return ()
    reason, advice = f"Kafka has no error `{name}`", "kafka.apache.org/protocol lists them"
    if name == NO_ERROR:
        reason = f"`{name}` is success, no error to answer with"
        advice = "write an error, such as NOT_LEADER_OR_FOLLOWER"
    return (
        Refusal(
            code="unknown-error", doing=f"answer with {name}", reason=reason, name=name, known=known, advice=advice
        ),
    )


CLUSTER_KINDS.add(
    EMBEDDED,
    ClusterKind(
        name=EMBEDDED,
        refuses=_refuses,
        memory_bytes=lambda brokers: brokers * BROKER_BYTES,
        model=EmbeddedModel.of,
    ),
)
