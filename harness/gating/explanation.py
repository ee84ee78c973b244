"""Where a longer time went: what the client did more often than before."""

from collections.abc import Iterator

from harness.comparing.cases import CaseRuns
from harness.comparing.frequencies import FrequencyChange
from harness.comparing.shifts import Shift

DONE = {"dials": "dial", "attempts": "attempt"}
WAIT = "waits("
WAITED = "waited("
MAX_EXPLANATIONS = 6
"""At most this many explanations are given."""


def where(before: CaseRuns, now: CaseRuns, leading: Shift | FrequencyChange) -> tuple[str, ...]:
    """`1 more dial`, `1 more Metadata.Retry.Backoff`; empty where nothing explains it. Settings that were changed are
    not repeated."""
    alias = leading.measure.partition(".")[0] if isinstance(leading, Shift) else leading.symptom.alias
    return tuple(_extra_work(before, now, alias))[:MAX_EXPLANATIONS]


def _extra_work(before: CaseRuns, now: CaseRuns, alias: str) -> Iterator[str]:
    """What the operation did; for a time other than an operation's, what each operation did, by name."""
    of = [alias] if alias in now.operations else list(now.operations)
    for operation in of:
        lead = "" if operation == alias else f"{operation}: "
        dials = 0.0
        for measure, noun in DONE.items():
            more = _median_or_zero(now, f"{operation}.{measure}") - _median_or_zero(before, f"{operation}.{measure}")
            dials = more if measure == "dials" else dials
            yield from (f"{lead}{words}" for words in _counted(more, noun))
        for name in sorted(before.samples.keys() | now.samples.keys()):
            if not name.startswith(f"{operation}.{WAIT}"):
                continue
            setting = name.removeprefix(f"{operation}.{WAIT}").removesuffix(")")
            more = _median_or_zero(now, name) - _median_or_zero(before, name)
            if more and not (more == dials and "dial" in setting.lower()):
                yield from (f"{lead}{words}" for words in _counted(more, setting, plural=False))
            elif not more and before.settings.get(setting) == now.settings.get(setting):
                yield from (f"{lead}{words}" for words in _longer_waits(before, now, operation, setting))


def _counted(more: float, noun: str, *, plural: bool = True) -> Iterator[str]:
    if more:
        end = "s" if plural and abs(more) != 1 else ""
        yield f"{abs(more):g} {'more' if more > 0 else 'fewer'} {noun}{end}"


def _longer_waits(before: CaseRuns, now: CaseRuns, operation: str, setting: str) -> Iterator[str]:
    """The number of waits is the same, but they took longer."""
    name = f"{operation}.{WAITED}{setting})"
    longer = _median_or_zero(now, name) - _median_or_zero(before, name)
    if longer > max(0.01, 0.05 * _median_or_zero(before, name)):
        yield f"{setting} {longer:.2f} s longer"


def _median_or_zero(case: CaseRuns, name: str) -> float:
    """The median, or 0 where no run has the measure: a client that never waited has no measure of waiting."""
    return case.samples[name].median if name in case.samples else 0.0
