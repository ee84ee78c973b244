"""Brokers speak no newer versions than an old release of Kafka."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, model_validator

from harness.cluster_view import ClusterView
from harness.faults.base import FaultModel, Proof, Stage, fault, unfit
from harness.faults.brokers import Brokers, select_brokers
from harness.levers import CapMet, CapVersions, ChangeCluster

PRESETS: Mapping[str, Mapping[str, int]] = {
    "kafka-0.11": {
        "produce": 3, "fetch": 5, "list_offsets": 2, "metadata": 4, "sasl_handshake": 0, "api_versions": 1,
        "create_topics": 2, "init_producer_id": 0, "sasl_authenticate": -1,
    },
    "kafka-2.3": {
        "produce": 7, "fetch": 11, "list_offsets": 5, "metadata": 8, "sasl_handshake": 1, "api_versions": 2,
        "create_topics": 3, "init_producer_id": 1, "sasl_authenticate": 1,
    },
}  # fmt: skip
"""The highest version of each API that a release answers. Source: Apache Kafka 0.11,
clients/.../protocol/Protocol.java, and 2.3, clients/.../protocol/ApiKeys.java and its message schemas."""


@fault("old_broker")
class OldBroker(FaultModel):
    """Brokers support only the API versions of an old Kafka release, as in the middle of an upgrade or a downgrade.

    An ApiVersions request returns the supported versions; a request in a newer version ends its connection. Requests in
    versions that they support prove nothing: a client that sends no others, and does not ask, meets no old broker.
    """

    proof = Proof(CapMet)

    brokers: Brokers = "all"
    release: Literal["kafka-0.11", "kafka-2.3"] | None = Field(
        default=None, description="Whose versions: `kafka-0.11` or `kafka-2.3`"
    )
    highest: Mapping[str, Annotated[int, Field(ge=-1)]] = Field(
        default_factory=dict,
        description="The highest version by API, such as `{produce: 3}`; -1: not that API at all. Goes before "
        "`release`",
    )

    @model_validator(mode="after")
    def _limits_something(self) -> "OldBroker":
        if self.release is None and not self.highest:
            raise unfit("old_broker", "says no versions", "write release: kafka-2.3, or highest: {produce: 3}")
        return self

    def stages(self, view: ClusterView) -> tuple[Stage, ...]:
        highest = {**(PRESETS[self.release] if self.release else {}), **self.highest}
        return tuple(
            Stage(ChangeCluster(change=CapVersions(broker=broker, highest=highest)))
            for broker in select_brokers(self.brokers, view)
        )
