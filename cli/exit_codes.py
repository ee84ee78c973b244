"""Exit codes, and which one a suite of mixed verdicts ends with."""

from collections.abc import Iterable
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.records.run import Verdict


class ExitCode(IntEnum):
    """What the process tells its caller."""

    PASSED = 0
    FAILED = 1
    """An expectation failed."""
    INCONCLUSIVE = 2
    """Nothing failed, but something tested nothing."""
    LAB_ERROR = 3
    """The lab itself failed, or the client's program did: no expectation could be judged."""
    USAGE = 4
    """The command or a scenario is wrong; nothing was started."""
    NOTHING_SELECTED = 5
    """No scenario was selected, or there is nothing to compare."""
    REGRESSED = 10
    """Something got worse than the baseline."""
    INTERRUPTED = 130
    BROKEN_PIPE = 141
    """Whoever read the output has gone, as when a shell's SIGPIPE ends a program."""


EXIT_CODES_WORST_FIRST: "tuple[tuple[Verdict, ExitCode], ...]" = (
    ("fail", ExitCode.FAILED),
    ("lab_error", ExitCode.LAB_ERROR),
    ("inconclusive", ExitCode.INCONCLUSIVE),
    ("skipped", ExitCode.INCONCLUSIVE),
)
"""A failed expectation is news about the client, so it comes before a broken lab; a skipped run proves nothing."""


def exit_code_of(verdicts: "Iterable[Verdict]") -> ExitCode:
    """The code for these verdicts together; none at all is NOTHING_SELECTED."""
    there = set(verdicts)
    if not there:
        return ExitCode.NOTHING_SELECTED
    return next((code for verdict, code in EXIT_CODES_WORST_FIRST if verdict in there), ExitCode.PASSED)
