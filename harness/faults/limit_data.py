"""Connections end once so many bytes have passed."""

from collections.abc import Mapping

from pydantic import Field

from harness.faults.base import Proof, fault
from harness.faults.toxics import ToxicFault
from harness.levers import ConnectionsEnded
from harness.quantities import Size


@fault("limit_data")
class LimitData(ToxicFault):
    """A connection is closed once a number of bytes has passed, in each flow separately (Toxiproxy's `limit_data`).

    Bytes are counted from the injection, or from the dial. The last ones may be the first half of a request or of a
    response. The close is orderly, unless more than 64 KiB have come beyond the limit: the proxy reads no more of them,
    and the kernel resets a connection that is closed with unread bytes.
    """

    proof = Proof(ConnectionsEnded)

    bytes: Size = Field(description="How many, such as 1KiB; with 0B not one passes")

    def attributes(self) -> Mapping[str, int]:
        return {"bytes": self.bytes}
