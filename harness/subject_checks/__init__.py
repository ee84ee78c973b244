"""Checks whether a program follows the subject protocol: real commands, with real brokers in a cell."""

from harness.subject_checks.checks import CHECKS
from harness.subject_checks.context import CheckContext, CheckFailed, Limits
from harness.subject_checks.runner import CheckResult, CheckTarget, check

__all__ = ["CHECKS", "CheckContext", "CheckFailed", "CheckResult", "CheckTarget", "Limits", "check"]
