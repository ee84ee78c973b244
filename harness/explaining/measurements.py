"""What earlier suites measured of a formula, read from their records."""

from collections.abc import Iterable
from dataclasses import dataclass

from harness.plan import Expectation
from harness.records.reader import Results
from harness.records.run import ExpectationResult, RunRecord
from harness.stats import censored_median

EXACT_S = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """The median of `runs` runs of one suite in one environment; `driver` tells a profile from the real library.
    `censored`: it is only known to be at least so long."""

    environment: str
    driver: str
    median_s: float
    censored: bool
    runs: int
    folder: str


def measurements(
    results: Results, *, client: str, version: str, expectation: Expectation, predicted_s: float
) -> tuple[Measurement, ...]:
    """Runs of the same client in which the expectation held sway and came to the same: they had the settings that its
    formula knows. Two formulas may read alike and mean different waits: the name counts too. Nothing of a run that the
    lab spoilt."""
    together: dict[tuple[str, str], list[ExpectationResult]] = {}
    for run in results.runs:
        if run.client == client and run.client_version == version and run.error is None and not run.noisy:
            for judged in _judged(run, expectation, predicted_s):
                together.setdefault((run.environment, run.driver), []).append(judged)
    found: list[Measurement] = []
    for (environment, driver), judgements in sorted(together.items()):
        values = [one.measured for one in judgements if one.measured is not None]
        bounds = [one.censored_at for one in judgements if one.measured is None and one.censored_at is not None]
        if values or bounds:
            middle = censored_median(values, bounds)
            found.append(
                Measurement(
                    environment=environment,
                    driver=driver,
                    median_s=middle.value,
                    censored=middle.censored,
                    runs=len(values) + len(bounds),
                    folder=str(results.folder.path),
                )
            )
    return tuple(found)


def _judged(run: RunRecord, expectation: Expectation, predicted_s: float) -> Iterable[ExpectationResult]:
    return (
        judged
        for judged in run.expectations
        if judged.kind == "equals"
        and (judged.name, judged.formula) == (expectation.name, expectation.formula)
        and judged.outcome not in ("skipped", "inconclusive")
        and judged.predicted is not None
        and abs(judged.predicted - predicted_s) <= EXACT_S
    )
