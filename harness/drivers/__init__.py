"""How subjects are started and spoken to: one file a driver."""

from harness.drivers.base import DRIVERS, build_program
from harness.drivers.calls import OperationCall, OperationResult
from harness.drivers.errors import ProtocolViolation, SubjectError
from harness.drivers.session import Subject

__all__ = [
    "DRIVERS",
    "OperationCall",
    "OperationResult",
    "ProtocolViolation",
    "Subject",
    "SubjectError",
    "build_program",
]
