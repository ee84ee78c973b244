"""One measure on one side of a case: times, counts, or words where the measure is how an operation ended."""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.comparing.samples import Sample, Unit, sample_of
from harness.records.run import RunRecord

CONCLUSIVE = ("pass", "fail")
"""Verdicts of runs in which something was tested."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SideSample(Sample):
    """A sample of `runs` runs; `words` instead of values where the measure is one. `silent`: why a run has neither."""

    runs: int
    words: tuple[str, ...] = ()
    silent: str | None = None

    def __len__(self) -> int:
        return Sample.__len__(self) + len(self.words)

    def repeated(self, times: int) -> "SideSample":
        """The sample as if every run had been made this many times."""
        return SideSample(
            unit=self.unit, values=self.values * times, censored=self.censored * times, runs=self.runs * times,
            words=self.words * times, silent=self.silent,
        )  # fmt: skip


def side_sample(unit: Unit, runs: Sequence[RunRecord], measure: str) -> SideSample:
    """The measure in those of the runs that were conclusive."""
    conclusive = [run for run in runs if run.verdict in CONCLUSIVE]
    alias = measure.rpartition(".")[0]
    operations = [one for run in conclusive for one in run.operations if one.alias == alias and unit == "outcome"]
    sample = sample_of(unit, (one for run in conclusive for one in run.measures if one.name == measure))
    return SideSample(
        unit=unit, values=sample.values, censored=sample.censored, runs=len(runs),
        words=tuple(sorted(one.error_class or one.outcome for one in operations)),
        silent=next((reason for run in runs if (reason := _silence(unit, run, measure))), None),
    )  # fmt: skip


def _silence(unit: Unit, run: RunRecord, measure: str) -> str | None:
    """Why a run does not have the measure; None where it does."""
    if run.verdict not in CONCLUSIVE:
        return next(iter(run.reasons), run.error.text if run.error is not None else run.verdict)
    found = next((one for one in run.measures if one.name == measure), None)
    if unit == "outcome" or (found is not None and (found.value is not None or found.censored_at is not None)):
        return None
    return "has no value for it" if found is None or found.missing is None else found.missing
