"""Whether a fault had an effect on what is judged: it met the client's traffic during an operation that is judged.

A fault on a broker that nobody uses, or that comes when all has ended, is proven by the lab's own probes or by idle
connections, and shows nothing about the client.
"""

from collections.abc import Iterable, Iterator, Sequence

from harness.formulas.run_conditions import names_in
from harness.measures import WHOLE_RUN, RunView, parse
from harness.operations import delivers
from harness.plan import Expectation, PlannedOperation, Statistic, step_alias
from harness.story import OperationStory

_NAMED = 3
"""So many operations are named in a reason."""


def faults_without_effect(run: RunView, points: Iterable[Expectation], together: Iterable[Statistic]) -> list[str]:
    """Why proven faults tested nothing that these expectations are about, or that a step's own `expect:` is about."""
    if not any(fault.met_by is not None for fault in run.story.faults):
        return []
    judged = _judged_operations(run, {*_named(points, together), *_expecting(run)})
    aliases = {operation.alias for operation in judged}
    return [
        f"fault `{fault.alias}` {fault.finding}, but met nothing of the client's {_while(judged)}: nothing was tested"
        for fault in run.story.faults
        if fault.proven and fault.met_by is not None and aliases.isdisjoint(fault.met_by)
    ]


def _named(points: Iterable[Expectation], together: Iterable[Statistic]) -> Iterator[str]:
    """The steps and faults that something is expected of; `run` for all messages."""
    yield from (parse(one.measure).alias for one in points)
    for one in together:
        texts = names_in(one.of) if one.statistic == "share" else (one.of,)
        yield from (text.partition(".")[0] for text in texts)


def _expecting(run: RunView) -> Iterator[str]:
    steps = (step for step in run.plan.steps if isinstance(step, PlannedOperation))
    return (step.alias for step in steps if step.expect is not None)


def _judged_operations(run: RunView, names: set[str]) -> list[OperationStory]:
    """In the order of their calls. What is measured of a fault spans every operation from its beginning on."""
    begun_ns = [fault.began_ns for fault in run.story.faults if fault.alias in names]
    return [
        operation
        for operation in run.story.operations
        if step_alias(operation.alias) in names
        or (WHOLE_RUN in names and delivers(operation.operation))
        or any(operation.outlasts(at_ns) for at_ns in begun_ns)
    ]


def _while(judged: Sequence[OperationStory]) -> str:
    names = [f"`{operation.alias}`" for operation in judged]
    if not names:
        return "while anything was under way that is judged"
    shown = ", ".join(names[-_NAMED:])
    return f"while {shown} {'was' if len(names) == 1 else 'were'} under way"
