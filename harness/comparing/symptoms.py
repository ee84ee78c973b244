"""What can happen in a run or not: a lost message, a failed expectation, an operation that hangs."""

from enum import StrEnum
from typing import NamedTuple


class SymptomKind(StrEnum):
    """What can happen in a run or not, the gravest first."""

    LOST = "lost"
    """A message that was acknowledged is not in the log."""
    DUPLICATED = "duplicated"
    """A message is in the log twice."""
    VERDICT = "verdict"
    """The run fails its expectations."""
    HANGS = "hangs"
    """An operation had not ended when the lab gave up. Its subject is the operation, as of the next ones."""
    FAILS = "fails"
    """An operation ended with an error, or not at all."""
    UNENDED = "unended"
    """A time other than an operation's had not ended. Its subject is the measure."""
    ERROR = "error"
    """An operation's error is of this class: `probe io.EOF`."""
    NOT_MEASURED = "untold"
    """A time other than an operation's could not be measured. Its subject is the measure."""
    NOT_CALLED = "uncalled"
    """No run calls the operation."""


class Symptom(NamedTuple):
    """`Symptom(Kind.HANGS, "probe")`. In a baseline file: `hangs probe`."""

    kind: SymptomKind
    subject: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.subject}".rstrip()

    @classmethod
    def parse(cls, text: str) -> "Symptom":
        """Raises ValueError for an unknown kind."""
        kind, _, subject = text.partition(" ")
        return cls(SymptomKind(kind), subject)

    @property
    def alias(self) -> str:
        """The operation it is about; empty where it is about the run."""
        return self.subject.partition(" ")[0]
