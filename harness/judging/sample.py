"""The sample of a statistic: each run's value, or the least and the most that it may have been."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from harness.formulas.run_conditions import first_missing_name, holds
from harness.formulas.values import FormulaValue, duration, number
from harness.plan import RunPlan, Statistic
from harness.records.run import RunRecord


@dataclass(frozen=True, slots=True)
class CensoredSample:
    """What each run gave, as the least and the most that it may have been; and why some gave nothing."""

    lows: list[float]
    highs: list[float]
    missing_reasons: list[str]

    @property
    def measured(self) -> list[float]:
        return [low for low, high in zip(self.lows, self.highs, strict=True) if low == high]


def collect_sample(plan: RunPlan, statistic: Statistic, runs: Sequence[RunRecord]) -> CensoredSample:
    """The sample that the runs of a case give, in their order."""
    sample = CensoredSample([], [], [])
    for run in runs:
        low, high, why = _one(plan, statistic, run)
        sample.lows.append(low)
        sample.highs.append(high)
        if why is not None:
            sample.missing_reasons.append(why)
    return sample


def _one(plan: RunPlan, statistic: Statistic, run: RunRecord) -> tuple[float, float, str | None]:
    """A run's value between its least and its most, and why it gave none."""
    least = 0.0 if statistic.statistic == "share" else statistic.lowest if statistic.statistic == "mean" else -inf
    most = 1.0 if statistic.statistic == "share" else statistic.highest if statistic.statistic == "mean" else inf
    if run.verdict not in ("pass", "fail"):
        return least, most, run.reasons[0] if run.reasons else f"its verdict is {run.verdict}"
    if statistic.statistic == "share":
        values = run_values(run)
        missing = first_missing_name(statistic.of, plan, values)
        if missing is not None:
            return least, most, f"it has no {missing}"
        held = float(holds(statistic.of, plan, values))
        return held, held, None
    measure = next((one for one in run.measures if one.name == statistic.of), None)
    if measure is not None and measure.value is not None:
        return measure.value, measure.value, None
    if measure is not None and measure.censored_at is not None:
        bound = min(max(least, measure.censored_at), most)
        return bound, most, f"{statistic.of} had not ended after {format_value(bound, statistic.unit)}"
    return least, most, measure.missing if measure is not None and measure.missing else f"it has no {statistic.of}"


def run_values(run: RunRecord) -> dict[str, FormulaValue]:
    """What a condition may ask of a run, by the names that conditions use; what is not known is left out."""
    found: dict[str, FormulaValue] = {}
    for operation in run.operations:
        texts = {
            "outcome": operation.outcome,
            "error": operation.error or "",
            "error_class": operation.error_class or "",
        }
        found |= {f"{operation.alias}.{name}": FormulaValue("text", text) for name, text in texts.items()}
        if operation.written not in (None, "unknown"):
            found[f"{operation.alias}.written"] = FormulaValue("text", str(operation.written))
    for measure in run.measures:
        if measure.value is not None:
            value = duration(measure.name, measure.value) if measure.unit == "s" else number(measure.value)
            found[measure.name] = value
    return found


def format_value(value: float, unit: str) -> str:
    """`8.850 s`, a share with three digits, or a count."""
    if unit == "s":
        return f"{value:.3f} s"
    return f"{value:.3f}" if unit == "share" else f"{value:g}"
