"""What happens in more runs than before, or in fewer: one happening of one case on both sides."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

from harness.gating.cases import CaseRuns, Happening, Kind
from harness.gating.shifts import LEAST, MOST_RUNS
from harness.stats.significance import chance_more_often

PROOF = frozenset({Kind.LOST, Kind.DUPLICATED})
"""A single one is proof enough where there was none before: no machine is so noisy that it loses a message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """It happened in `before` of `of_before` runs, and in `now` of `of_now`.

    `chance` is that of so many more, if nothing changed; `chance_fewer` that of so many fewer.
    """

    happening: Happening
    before: int
    of_before: int
    now: int
    of_now: int
    chance: float
    chance_fewer: float

    @property
    def new(self) -> bool:
        return self.before == 0 and self.now > 0

    @property
    def plain(self) -> bool:
        """No test is needed: every run does it now and none did, or it is something that proves itself."""
        return self.new and (self.now == self.of_now or self.happening.kind in PROOF)

    @property
    def testable(self) -> bool:
        """Whether it happened in some runs and not in others: in any other case no order of them says anything."""
        return not self.plain and 0 < self.before + self.now < self.of_before + self.of_now

    def needed(self, level: float) -> int | None:
        """About so many runs a side show these shares clearly; None: no number that is asked for does."""
        runs = max(LEAST, min(self.of_before, self.of_now) + 1)
        while runs <= MOST_RUNS:
            before, now = ceil(self.before / self.of_before * runs), round(self.now / self.of_now * runs)
            if chance_more_often(before, runs, max(now, before), runs) <= level:
                return runs
            runs = ceil(runs * 1.1)
        return None


def changes(before: CaseRuns, now: CaseRuns) -> tuple[Change, ...]:
    """Whatever happened on either side, as far as it can be better or worse; both have counted runs."""
    there = sorted(before.happened.keys() | now.happened.keys())
    happened = [_change(one, before, now) for one in there if _comparable(one, before, now)]
    return (*happened, *_untold(before, now))


def _untold(before: CaseRuns, now: CaseRuns) -> Iterator[Change]:
    """Times that fewer runs tell, and operations that none calls any more: what was held of them is held no more. Times
    of operations follow from how they ended, which is compared already."""
    for alias in before.operations:
        if alias not in now.operations:
            yield _counted(Happening(Kind.UNCALLED, alias), 0, now.counted, before, now)
    for name, sample in before.samples.items():
        alias, _, measure = name.partition(".")
        if sample.unit != "s" or alias in before.operations or "(" in measure:
            continue
        told = len(now.samples[name]) if name in now.samples else 0
        if told * before.counted < len(sample) * now.counted:
            silent = (before.counted - len(sample), now.counted - told)
            yield _counted(Happening(Kind.UNTOLD, name), *silent, before, now)


def _comparable(happening: Happening, before: CaseRuns, now: CaseRuns) -> bool:
    """What an operation that is not there on one side did is no change; nor is an error instead of a hang, or another
    class of error that was seen before."""
    alias = happening.alias
    if happening.kind in (Kind.HANGS, Kind.FAILS, Kind.ERROR) and not (
        alias in before.operations and alias in now.operations
    ):
        return False
    if happening.kind is Kind.ERROR:
        hung = before.happened.get(Happening(Kind.HANGS, alias), 0)
        return before.happened.get(happening, 0) == 0 and hung < before.counted
    return True


def _change(happening: Happening, before: CaseRuns, now: CaseRuns) -> Change:
    return _counted(happening, before.happened.get(happening, 0), now.happened.get(happening, 0), before, now)


def _counted(happening: Happening, was: int, count: int, before: CaseRuns, now: CaseRuns) -> Change:
    of_was, of_count = before.counted, now.counted
    more = count * of_was > was * of_count
    fewer = count * of_was < was * of_count
    return Change(
        happening=happening, before=was, of_before=of_was, now=count, of_now=of_count,
        chance=chance_more_often(was, of_was, count, of_count) if more else 1.0,
        chance_fewer=chance_more_often(count, of_count, was, of_was) if fewer else 1.0,
    )  # fmt: skip
