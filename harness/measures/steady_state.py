"""When a client was steady again: the first acknowledgement after a fault's healing after which no send fails."""

from harness.measures.results import Censored, MeasuredValue, MeasureResult, Missing
from harness.operations import delivers
from harness.story import FaultStory, Outcome, Story


def time_to_steady_state(story: Story, fault: FaultStory, *, since_ns: int) -> MeasureResult:
    """Seconds from `since_ns` until that acknowledgement; 0 where it came before.

    A fault is undone before that is confirmed, and a client may be quicker than the lab: acknowledgements in between
    count. A last send that failed or did not end is a lower bound: steady state cannot have begun before it.
    """
    if fault.healed_ns is None:
        return Missing(f"`{fault.alias}` was not healed")
    undone_ns = fault.healed_ns if fault.healing_ns is None else fault.healing_ns
    sends = (operation for operation in story.operations if delivers(operation.operation))
    after = sorted((s for s in sends if s.ended_ns >= undone_ns), key=lambda send: send.ended_ns)
    if not after or (after[-1].outcome is not Outcome.OK and after[-1].ended_ns < fault.healed_ns):
        return Missing(f"no send ended after `{fault.alias}` was healed")
    unsteady = [index for index, send in enumerate(after) if send.outcome is not Outcome.OK]
    first = unsteady[-1] + 1 if unsteady else 0
    if first == len(after):
        return Censored((after[-1].ended_ns - since_ns) / 1e9)
    return MeasuredValue(max(0, after[first].ended_ns - since_ns) / 1e9)
