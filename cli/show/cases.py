"""Cases: the repeats of one scenario with one set of parameters, taken together as a reader takes them.

Works on records alone, so that a suite that ran now and one that is read from its folder look the same.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from cli.exit_codes import EXIT_CODES_WORST_FIRST
from harness.records.bounds import distance_rank, farthest_off
from harness.records.case_key import RELEASE_PARAMETER, CaseKey, by_case, case_key
from harness.records.group import GroupRecord
from harness.records.run import ExpectationResult, RunRecord, Verdict
from harness.records.short_names import parameters_text
from harness.stats import Median, censored_median, median


@dataclass(frozen=True, slots=True)
class ExpectationSummary:
    """One expectation over the repeats of a case.

    `measured` is the median over the repeats that measured something, None where none did. `judged` is the first
    repeat's (of those with the worst outcome), whose bounds stand for all: they come from the same formula. `off` is by
    how much the worst repeat lies above its prediction or limit (below: negative), None where that is not known.
    """

    judged: ExpectationResult
    measured: Median | None
    measured_values: tuple[float, ...]
    off: float | None = None

    @property
    def unit(self) -> str:
        return self.judged.unit

    @property
    def severity(self) -> tuple[int, float, float]:
        """What sorts expectations: violated ones first, the farthest off first, then what was not tested."""
        if not self.judged.fails_run:
            return (1 if self.judged.outcome == "inconclusive" else 2), 0.0, 0.0
        seconds, share = distance_rank(self.unit, self.off, self.judged.predicted or self.judged.high)
        return 0, -seconds, -share


@dataclass(frozen=True, slots=True)
class CaseRecords:
    """At least one run, and what all of them were expected to have in common."""

    runs: tuple[RunRecord, ...]
    groups: tuple[GroupRecord, ...] = ()

    @property
    def first(self) -> RunRecord:
        return self.runs[0]

    @property
    def client(self) -> str:
        return client_text(case_key(self.first))

    @property
    def parameters(self) -> str:
        return case_parameters(case_key(self.first))

    @property
    def verdict(self) -> Verdict:
        verdicts = {run.verdict for run in self.runs} | {g.verdict for g in self.groups if g.verdict != "skipped"}
        return next((verdict for verdict, _ in EXIT_CODES_WORST_FIRST if verdict in verdicts), "pass")

    @property
    def ended_by_subject(self) -> bool:
        """Whether each run of it that ended early did so by the client's program or its settings: the lab worked."""
        return self.verdict == "lab_error" and only_subject_ended(self.runs)

    @property
    def severity(self) -> tuple[int, float, float]:
        """What sorts cases of one verdict: the one whose expectation is the farthest off first."""
        return next((one.severity for one in self.expectations()), (1, 0.0, 0.0))

    @property
    def passed(self) -> int:
        return sum(run.verdict == "pass" for run in self.runs)

    @property
    def falls_short_together(self) -> bool:
        """Whether something that is expected of all runs together does not hold: then that a run passes alone says
        nothing of the case."""
        return any(group.verdict not in ("pass", "skipped") for group in self.groups)

    @property
    def most_severe(self) -> RunRecord:
        """The first of the runs whose verdicts are worst: the case's own may come from all of them together."""
        verdicts = {run.verdict for run in self.runs}
        worst = next((verdict for verdict, _ in EXIT_CODES_WORST_FIRST if verdict in verdicts), "pass")
        return next(run for run in self.runs if run.verdict == worst)

    @property
    def leading_group(self) -> GroupRecord | None:
        """What stands for the case in a row where no single run fails it: what is worst of all runs together."""
        ranked, alone = self.shared_expectations(), {run.verdict for run in self.runs}
        if not ranked or "fail" in alone or (self.leading() is not None and ranked[0].verdict == "pass"):
            return None
        return ranked[0]

    def findings(self) -> tuple[ExpectationSummary, ...]:
        """Every expectation that was not skipped everywhere, in the scenario's order."""
        together: dict[tuple[str, str, str, int], list[ExpectationResult]] = {}
        for run in self.runs:
            for judged in run.expectations:
                key = (judged.measure, judged.kind, judged.formula, judged.line)
                together.setdefault(key, []).append(judged)
        return tuple(
            _finding(judged) for judged in together.values() if any(one.outcome != "skipped" for one in judged)
        )

    def expectations(self) -> tuple[ExpectationSummary, ...]:
        """The findings that decide the case, the violated first, the farthest off first: claims only where they fail
        it."""
        decisive = [one for one in self.findings() if one.judged.fails_run or one.judged.kind != "claim"]
        return tuple(sorted(decisive, key=lambda one: one.severity))

    def shared_expectations(self) -> tuple[GroupRecord, ...]:
        """What is expected of all repeats together, the most severe first: claims only where they fail the case, or
        where there is nothing else."""
        judged = [one for one in self.groups if one.verdict != "skipped"]
        decisive = [one for one in judged if one.verdict == "fail" or one.kind != "claim"] or judged
        order = [verdict for verdict, _ in EXIT_CODES_WORST_FIRST]
        return tuple(sorted(decisive, key=lambda one: order.index(one.verdict) if one.verdict in order else len(order)))

    def leading(self) -> ExpectationSummary | None:
        """The finding that stands for the case in a row: what failed it worst, else its first time, else its first."""
        findings = self.findings()
        bounds = [f for f in findings if f.judged.kind != "claim"]
        ranked = [
            *(f for f in self.expectations() if f.judged.fails_run),
            *(f for f in bounds if f.judged.unit == "s"),
            *bounds,
            *findings,
        ]
        return ranked[0] if ranked else None

    def claims(self) -> tuple[ExpectationSummary, ...]:
        return tuple(f for f in self.findings() if f.judged.kind == "claim")


def group_into_cases(runs: Iterable[RunRecord], groups: Iterable[GroupRecord] = ()) -> tuple[CaseRecords, ...]:
    """In the order in which each case first appears."""
    shared = by_case(groups)
    return tuple(
        CaseRecords(tuple(sorted(runs, key=lambda run: run.repeat)), tuple(shared.get(key, ())))
        for key, runs in by_case(runs).items()
    )


def worst_first(cases: Iterable[CaseRecords]) -> list[CaseRecords]:
    """Those that did not pass."""
    order = [verdict for verdict, _ in EXIT_CODES_WORST_FIRST]
    return sorted((case for case in cases if case.verdict != "pass"), key=lambda case: order.index(case.verdict))


def client_text(key: CaseKey) -> str:
    """`sarama 1.27.2`, `real sarama 1.27.2`."""
    return f"{'real ' if key.driver == 'real' else ''}{key.client} {key.version}".rstrip()


def case_parameters(key: CaseKey) -> str:
    """`Retry.Max=1 brokers=3`, empty without a matrix. The client's release stands beside its name."""
    return parameters_text([one for one in key.parameters if one[0] != RELEASE_PARAMETER])


def only_subject_ended(runs: Iterable[RunRecord]) -> bool:
    """Whether some run ended early, and each such run by the client's program or its settings."""
    ended = [run.ended_by_subject for run in runs if run.verdict == "lab_error"]
    return bool(ended) and all(ended)


def verdict_counts(runs: Iterable[RunRecord]) -> Counter[Verdict]:
    return Counter(run.verdict for run in runs)


def _finding(judged: list[ExpectationResult]) -> ExpectationSummary:
    applicable = [one for one in judged if one.outcome != "skipped"]
    values = [one.measured for one in applicable if one.measured is not None]
    bounds = [one.censored_at for one in applicable if one.measured is None and one.censored_at is not None]
    stands = next((one for one in applicable if one.fails_run), None) or next(
        (one for one in applicable if one.outcome in ("failed", "refuted", "inconclusive")), applicable[0]
    )
    if not values and not bounds:
        return ExpectationSummary(stands, None, ())
    middle = censored_median(values, bounds) if bounds else Median(value=median(values), censored=False)
    every = [*values, *bounds]
    off = farthest_off(stands.kind, stands.predicted, stands.low, stands.high, min(every), max(every))
    return ExpectationSummary(stands, middle, tuple(values), off)
