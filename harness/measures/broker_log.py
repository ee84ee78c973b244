"""The log of a settled world: the messages that a measure is about, and their copies."""

from collections.abc import Mapping
from dataclasses import dataclass

from harness.measures.names import WHOLE_RUN
from harness.measures.results import Missing
from harness.measures.run_view import RunView
from harness.operations import delivers
from harness.plan import step_alias
from harness.story import MessageCopy, OperationStory


@dataclass(frozen=True, slots=True)
class Messages:
    """The sends that a measure is about, and the copies of every message of the run, in the order of the log."""

    sends: tuple[OperationStory, ...]
    copies: Mapping[str, tuple[MessageCopy, ...]]

    def copies_of(self, send: OperationStory) -> tuple[MessageCopy, ...]:
        return self.copies.get(send.alias, ())


def messages_of(run: RunView, alias: str) -> Messages | Missing:
    """Those of the whole run for `run`, else those of the step called `alias`; or why there is no answer."""
    integrity = run.story.integrity
    if integrity is None:
        return Missing("the log was not read")
    if not integrity.settled.complete:
        seconds = integrity.settled.seconds
        return Missing(f"the world had not settled {seconds:.0f} s after the run: the log was not complete")
    sends = tuple(
        operation
        for operation in run.story.operations
        if delivers(operation.operation) and alias in (WHOLE_RUN, step_alias(operation.alias))
    )
    if not sends:
        return Missing("nothing was sent" if alias == WHOLE_RUN else f"`{alias}` sent nothing")
    return Messages(sends, run.copies)
