"""The errors of `client.wire`: bytes that no correct peer sends, and values that the wire cannot carry.

Every function of this package raises a WireError or nothing: readers of a socket have one error to catch.
"""


class WireError(Exception):
    """Malformed bytes, or a value that does not fit its field."""


class MessageError(WireError):
    """A message that cannot be decoded or encoded.

    `offset` counts bytes from the message's start (its header's first byte, after the frame's size), None where a
    value could not be encoded; `version` is None where the header itself could not be read.
    """

    def __init__(self, what: str, version: int | None, offset: int | None, reason: str) -> None:
        at = "" if offset is None else f" at byte {offset}"
        of = "" if version is None else f" v{version}"
        super().__init__(f"{what}{of}{at}: {reason}")
        self.what = what
        self.version = version
        self.offset = offset
        self.reason = reason


class MalformedDataError(Exception):
    """Raised inside the codec, where neither API nor version is known; `client.wire.messages` names them."""

    def __init__(self, offset: int, reason: str) -> None:
        super().__init__(f"at byte {offset}: {reason}")
        self.offset = offset
        self.reason = reason
