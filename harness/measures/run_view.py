"""One run as measures and judging see it: its plan, its story, and what has been worked out of them so far."""

from collections import defaultdict
from collections.abc import Mapping
from functools import cached_property

from client.events import TraceKind
from harness.measures.names import MeasureName
from harness.measures.results import MeasureResult, Missing, WrongOutcome
from harness.measures.trace import CLIENT_EVENT_KINDS, OperationTrace, SubjectTrace
from harness.plan import PlannedFault, RunPlan
from harness.story import FaultStory, MessageCopy, OperationStory, Story


class RunView:
    """Made once for a run that has ended. `taken` holds the measures that were taken of it."""

    def __init__(self, plan: RunPlan, story: Story) -> None:
        self.plan = plan
        self.story = story
        self.taken: dict[MeasureName, MeasureResult] = {}

    def operation(self, alias: str) -> OperationStory | Missing:
        """The operation called `alias`, or why there is none."""
        for operation in self.story.operations:
            if operation.alias == alias:
                return operation
        return Missing(f"`{alias}` never ran")

    def fault(self, alias: str) -> FaultStory | Missing:
        """The fault called `alias`, or why there is none."""
        for fault in self.story.faults:
            if fault.alias == alias:
                return fault
        return Missing(f"`{alias}` was never injected")

    def is_preparation(self, operation: OperationStory) -> bool:
        """Whether it ended before the first of the plan's faults began: what it shows is no effect of any fault."""
        if not any(isinstance(step, PlannedFault) for step in self.plan.steps):
            return False
        return not any(operation.outlasts(fault.began_ns) for fault in self.story.faults)

    def ended_otherwise(self, operation: OperationStory, reason: str) -> Missing:
        """What a time gives whose operation ended the other way. In preparation that says nothing."""
        return Missing(reason) if self.is_preparation(operation) else WrongOutcome(reason, operation.outcome.value)

    @cached_property
    def trace(self) -> SubjectTrace:
        """What the subject said of itself, and what the wire showed of it."""
        return SubjectTrace(self.story)

    def during(self, operation: OperationStory) -> OperationTrace:
        """The subject's trace between an operation's start and its end, in the order in which the subject wrote it.

        What other operations do meanwhile is in it.
        """
        return self.trace.for_operation(operation)

    def missing_trace(self, *kinds: TraceKind) -> Missing | None:
        """Why nothing can be said of these kinds of events; None where their absence means that there were none.

        A bundled client traces all that it does. Another program is believed to trace a kind once it has traced one.
        """
        traced = self.trace.kinds
        if not traced.isdisjoint(kinds):
            return None
        if self.plan.client.driver == "bundled" and not CLIENT_EVENT_KINDS.isdisjoint(traced):
            return None
        return Missing(f"the client's trace has no {' or '.join(kinds)}")

    @cached_property
    def copies(self) -> Mapping[str, tuple[MessageCopy, ...]]:
        """The copies of each message in the log, by the operation that delivered it and in the order of the log."""
        found: dict[str, list[MessageCopy]] = defaultdict(list)
        for copy in self.story.integrity.copies if self.story.integrity is not None else ():
            found[copy.operation].append(copy)
        return {name: tuple(copies) for name, copies in found.items()}

    def full_setting_name(self, setting: str) -> str:
        """A setting's full name from any dotted end of it that is unique; the text itself where none is."""
        return setting if setting in self._setting_names else self.plan.full_setting_name(setting)

    @cached_property
    def _setting_names(self) -> frozenset[str]:
        return frozenset([setting.name for setting in self.plan.settings])
