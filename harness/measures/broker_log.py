"""Looking at the log of a settled world: which messages are asked about, and where their copies stand."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from harness.measures.base import WHOLE_RUN, Missing
from harness.operations import delivers
from harness.plan import step_alias
from harness.story import MessageCopy, OperationStory, Story


@dataclass(frozen=True, slots=True)
class Messages:
    """The sends that a measure is about, and the copies of every message of the run, in the order of the log."""

    sends: tuple[OperationStory, ...]
    copies: Mapping[str, tuple[MessageCopy, ...]]

    def copies_of(self, send: OperationStory) -> tuple[MessageCopy, ...]:
        return self.copies.get(send.alias, ())


def messages_of(story: Story, alias: str) -> Messages | Missing:
    """Those of the whole run for `run`, else those of the step called `alias`, or why nothing can be said of them."""
    if story.integrity is None:
        return Missing("the log was not read")
    if not story.integrity.settled.complete:
        seconds = story.integrity.settled.seconds
        return Missing(f"the world had not settled {seconds:.0f} s after the run: the log was not complete")
    sends = tuple(
        operation
        for operation in story.operations
        if delivers(operation.operation) and alias in (WHOLE_RUN, step_alias(operation.alias))
    )
    if not sends:
        return Missing("nothing was sent" if alias == WHOLE_RUN else f"`{alias}` sent nothing")
    copies: dict[str, list[MessageCopy]] = defaultdict(list)
    for copy in story.integrity.copies:
        copies[copy.operation].append(copy)
    return Messages(sends, {name: tuple(found) for name, found in copies.items()})
