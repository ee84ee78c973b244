"""Exit codes, and which one a suite of mixed verdicts ends with."""

from collections.abc import Iterable
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.records.run import Verdict


class Exit(IntEnum):
    """What the process tells its caller."""

    PASSED = 0
    FAILED = 1
    """An expectation failed."""
    INCONCLUSIVE = 2
    """Nothing failed, but something tested nothing."""
    LAB = 3
    """The lab itself failed."""
    USAGE = 4
    """The command or a scenario is wrong; nothing was started."""
    NOTHING = 5
    """No scenario was selected, or there is nothing to compare."""
    REGRESSED = 10
    """Something got worse than the baseline."""
    INTERRUPTED = 130
    BROKEN_PIPE = 141
    """Whoever read the output has gone, as when a shell's SIGPIPE ends a program."""


GRAVEST_FIRST: "tuple[tuple[Verdict, Exit], ...]" = (
    ("fail", Exit.FAILED),
    ("lab_error", Exit.LAB),
    ("inconclusive", Exit.INCONCLUSIVE),
    ("skipped", Exit.INCONCLUSIVE),
)
"""A failed expectation is news about the client, so it comes before a broken lab; a skipped run proves nothing."""


def exit_of(verdicts: "Iterable[Verdict]") -> Exit:
    """The code for these verdicts together; none at all is NOTHING."""
    there = set(verdicts)
    if not there:
        return Exit.NOTHING
    return next((code for verdict, code in GRAVEST_FIRST if verdict in there), Exit.PASSED)
