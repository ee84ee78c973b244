"""Whether a program keeps the subject protocol: real commands to the real program, against real brokers in a cell."""

from harness.conformance.bench import Bench, NotKept
from harness.conformance.checks import CHECKS
from harness.conformance.suite import Checked, Finding, check

__all__ = ["CHECKS", "Bench", "Checked", "Finding", "NotKept", "check"]
