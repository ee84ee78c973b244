"""Makes docs/BROKER.md from the embedded broker's handlers: `.venv/bin/python tools/broker_reference.py` writes it."""

import sys
from importlib import import_module
from inspect import cleandoc
from pathlib import Path

from harness.brokers.embedded.handlers import Handler, handlers

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "BROKER.md"
HEAD = """\
# The embedded broker

What faultlab's own Kafka broker speaks. This page is made from its handlers by `tools/broker_reference.py`; a test fails
where the two differ. Any client of the protocol that is content with these APIs can be put under test.

| question | answer |
| --- | --- |
| which clients | those that negotiate versions (ApiVersions, since Kafka 0.10), and older ones that use the versions below |
| brokers and topics | as the scenario's `cluster` says, with replicas, leaders and a controller; topics are created by `create_topics` alone |
| what is stored | every batch, in one log a partition, which kills and restarts do not lose |
| compression | batches are kept as they came, whichever codec |
| idempotent producers | yes: ids, epochs and sequence numbers as Kafka checks them |
| transactions | no: INVALID_REQUEST |
| consumer groups | no: Fetch and ListOffsets, without a group coordinator |
| TLS | where the scenario says `cluster: {tls: true}`, with certificates that the lab makes, or with yours: `tls: {ca: ca.pem, certificate: brokers.pem, key: brokers.key}` |
| SASL | where it says `sasl: [PLAIN]`, `[SCRAM-SHA-256]` or `[SCRAM-SHA-512]`; the client is given the right user and password |
| addresses | 127.0.1.N:9092 behind 127.0.2.N:9092, inside the run's network namespace |
| older brokers | the fault `old_broker` makes a broker speak fewer versions: [FAULTS.md](FAULTS.md) |

## APIs

| key | API | versions |
| --- | --- | --- |
"""  # noqa: E501 - rows of a table


def page() -> str:
    """The whole page."""
    known = list(handlers().values())
    rows = [f"| {one.api.key} | {one.api.name} | {_versions(one)} |\n" for one in known]
    return HEAD + "".join(rows) + "".join(f"\n{_section(one)}" for one in known)


def _versions(handler: Handler) -> str:
    return f"{handler.versions[0]} to {handler.versions[-1]}"


def _section(handler: Handler) -> str:
    """The behaviours with which its module opens."""
    module = import_module(handler.answer.__module__)
    _, _, behaviours = cleandoc(module.__doc__ or "").partition("\n\n")
    return f"### {handler.api.name}\n\n{behaviours.strip()}\n"


def main() -> int:
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
