"""When a client was steady again: the first acknowledgement after a fault's healing behind which no send fails."""

from harness.measures.results import Censored, MeasuredValue, MeasureResult, Missing
from harness.operations import delivers
from harness.story import FaultStory, Outcome, Story


def time_to_steady_state(story: Story, fault: FaultStory, *, since_ns: int) -> MeasureResult:
    """Seconds from `since_ns` until that acknowledgement; 0 where it came before.

    Undoing a fault works before that is confirmed, and a client may be quicker than the lab: what is acknowledged
    meanwhile counts. What had failed, or not ended, when the lab looked last bounds it from below: steady state cannot
    have begun before.
    """
    if fault.healed_ns is None:
        return Missing(f"`{fault.alias}` was not healed")
    undone_ns = fault.healed_ns if fault.healing_ns is None else fault.healing_ns
    sends = (operation for operation in story.operations if delivers(operation.operation))
    after = sorted((s for s in sends if s.ended_ns >= undone_ns), key=lambda send: send.ended_ns)
    if not after or (after[-1].outcome is not Outcome.OK and after[-1].ended_ns < fault.healed_ns):
        return Missing(f"no send ended after `{fault.alias}` was healed")
    unsteady = [place for place, send in enumerate(after) if send.outcome is not Outcome.OK]
    first = unsteady[-1] + 1 if unsteady else 0
    if first == len(after):
        return Censored((after[-1].ended_ns - since_ns) / 1e9)
    return MeasuredValue(max(0, after[first].ended_ns - since_ns) / 1e9)
