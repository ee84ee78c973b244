"""Numbers as the terminal shows them: times to the millisecond, counts as they are, bounds with their sign."""

from cli.show.cases import CaseRecords, ExpectationSummary
from harness.records.bounds import LIMITS, bound_text
from harness.records.run import ExpectationResult, Verdict

WIDTH = 80
"""Columns where there is no terminal: in CI's logs, in files and pipes."""
NARROWEST, WIDEST = 60, 160
"""Columns that are used of a terminal: in fewer no row can be read, and longer lines are hard to follow."""

VERDICT_LABELS: dict[Verdict, str] = {
    "pass": "pass",
    "fail": "FAIL",
    "inconclusive": "INCONCLUSIVE",
    "lab_error": "LAB ERROR",
    "skipped": "skipped",
}
SUBJECT_ERROR = "SUBJECT ERROR"
"""In the place of LAB ERROR where the record blames the subject: the client's program, or its settings."""
VERDICT_STYLES: dict[Verdict, str] = {
    "pass": "green",
    "fail": "bold red",
    "inconclusive": "yellow",
    "lab_error": "bold magenta",
    "skipped": "dim",
}


def case_label(case: CaseRecords) -> str:
    """The verdict of a case in the words of the table."""
    return SUBJECT_ERROR if case.ended_by_subject else VERDICT_LABELS[case.verdict]


def amount(value: float | None, unit: str) -> str:
    """`8.856 s`, `4`, of a share `0.167`; `nothing` where there is no value."""
    if value is None:
        return "nothing"
    if unit == "share":
        return f"{value:.3f}"
    return f"{value:.3f} s" if unit == "s" else f"{value:g}"


def measured(finding: ExpectationSummary) -> str:
    """The median, `≥ 60.000 s` where it is only known to be at least so long; `failed` where there is no time."""
    if finding.measured is None:
        return finding.judged.measured_text or "nothing"
    text = amount(finding.measured.value, finding.unit)
    return f"≥ {text}" if finding.measured.censored else text


def predicted(judged: ExpectationResult) -> str:
    """The bound with its sign where it is not equality; both ends of a range; a word as it is."""
    if judged.unit == "text":
        return judged.formula
    if judged.kind == "between" and judged.low is not None:
        return f"{amount(judged.low, judged.unit).removesuffix(' s')} .. {amount(judged.high, judged.unit)}"
    sign = {"at_most": "≤ ", "at_least": "≥ "}.get(judged.kind, "")
    return f"{sign}{amount(judged.predicted, judged.unit)}" if judged.predicted is not None else "none"


def labelled(name: str, of: str, *, room: int = WIDTH) -> str:
    """`our-limit: probe.time_to_error`; of a name that has no room only its beginning, or nothing."""
    beyond = len(f"{name}: {of}") - room
    shown = name if beyond <= 0 else f"{name[: -beyond - 1]}…" if len(name) > beyond + 1 else ""
    return f"{shown}: {of}" if shown else of


def expectation_label(judged: ExpectationResult) -> str:
    """`our-limit: probe.time_to_error`; the measure alone where the expectation has no name."""
    return labelled(judged.name, judged.measure)


def expectation_verdict(judged: ExpectationResult) -> Verdict:
    """What an expectation adds to its run."""
    if judged.fails_run:
        return "fail"
    return "inconclusive" if judged.outcome == "inconclusive" else "pass"


def written(judged: ExpectationResult) -> str:
    """The bound as the scenario has it: `at_most: 5s`."""
    return bound_text(judged.kind, judged.formula, judged.bound)


def off_by(finding: ExpectationSummary) -> str:
    """`+3.850 s`: by how much the worst repeat is above its bound; nothing where it is exact or not known."""
    if not finding.off or abs(finding.off) < 0.0005:
        return ""
    return f"{finding.off:+.3f} s" if finding.unit == "s" else f"{finding.off:+g}"


def tolerance(judged: ExpectationResult) -> str:
    """`± 0.137` around an equality; `- 0.105 + 0.175` where a timer's lateness counts on one side alone."""
    if judged.kind in LIMITS or judged.predicted is None:
        return ""
    return format_tolerance(judged.predicted, judged.low, judged.high, form=".3f" if judged.unit == "s" else "g")


def format_tolerance(predicted: float, low: float | None, high: float | None, *, form: str) -> str:
    """How far the bounds are off, in that form; nothing where there are none, or no room between them."""
    if low is None or high is None or (form == "g" and low == high):
        return ""
    below, above = f"{predicted - low:{form}}", f"{high - predicted:{form}}"
    return f" ± {above}" if below == above else f" - {below} + {above}"


def seconds(value: float) -> str:
    """For people: `47.1 s`, `12 min 5 s`."""
    if value < 120:
        return f"{value:.1f} s"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes} min {rest} s"


def pluralized(count: int, noun: str) -> str:
    """`1 run`, `42 runs`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
