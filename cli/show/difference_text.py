"""Differences between two suites in words and figures: shared by `gate` and `compare`."""

from collections.abc import Iterable

from harness.comparing.cases import CaseRuns
from harness.comparing.frequencies import FrequencyChange
from harness.comparing.shifts import Shift
from harness.comparing.symptoms import SymptomKind
from harness.gating.assessment import AssessedDifference
from harness.gating.gate import InconclusiveCase
from harness.records.case_key import CaseKey
from harness.records.short_names import parameters_text

PROBE = "probe"
"""What a scenario mostly calls the operation that it is about: its name adds nothing."""

EXPECTED_TIMES = ("time to error", "time to ack")
"""What a reader takes a bare time for."""

LABELS = {
    SymptomKind.LOST: "losing",
    SymptomKind.DUPLICATED: "doubling",
    SymptomKind.VERDICT: "failing",
    SymptomKind.HANGS: "hanging",
    SymptomKind.FAILS: "failing",
    SymptomKind.UNENDED: "hanging",
    SymptomKind.ERROR: "with another error",
    SymptomKind.NOT_MEASURED: "unmeasured",
    SymptomKind.NOT_CALLED: "uncalled",
}
SENTENCES = {
    SymptomKind.LOST: "an acknowledged message is lost",
    SymptomKind.DUPLICATED: "a message is written twice",
    SymptomKind.VERDICT: "fails its expectations",
    SymptomKind.HANGS: "{0} hangs",
    SymptomKind.FAILS: "{0} fails",
    SymptomKind.UNENDED: "{0} does not end",
    SymptomKind.ERROR: "{0} fails with {1}",
    SymptomKind.NOT_MEASURED: "{0} is not measured",
    SymptomKind.NOT_CALLED: "{0} is not called",
}
FINE_S = 0.1
"""Where less than this matters, times have a digit more."""


def label(one: AssessedDifference) -> str:
    """One word for a regression: `slower`, `losing`, `failing`."""
    if isinstance(one.of, FrequencyChange):
        return LABELS[one.of.symptom.kind]
    return "slower" if one.of.unit == "s" else "doing more"


def measure_label(measure: str) -> str:
    """`time to error`, `connect: time to end`, `outage: recovery`."""
    alias, _, name = measure.partition(".")
    words = name if "(" in name else name.replace("_", " ")
    return words if alias == PROBE else f"{alias}: {words}"


def change(one: FrequencyChange) -> str:
    """`probe hangs in 3 of 20 runs, before in none of 20`."""
    subject, _, rest = one.symptom.subject.partition(" ")
    sentence = SENTENCES[one.symptom.kind].format(subject, rest)
    return (
        f"{sentence} in {one.now or 'none'} of {one.of_now} runs, before in {one.before or 'none'} of {one.of_before}"
    )


def short_figures(one: AssessedDifference, *, named: bool = False) -> str:
    """`+0.31 s [-0.10 +0.72]`; with its measure where that is not the time that a reader expects, or if `named`."""
    if isinstance(one.of, FrequencyChange):
        return change(one.of)
    measure = measure_label(one.of.measure)
    lead = f"{measure} " if named or measure not in EXPECTED_TIMES else ""
    unit = " s" if one.of.unit == "s" else ""
    return f"{lead}{signed(one.of.shift, one.of.unit, digits_of(one.of))}{unit} {interval(one.of)}".rstrip()


def silent_reason(silent: InconclusiveCase) -> str:
    """`none of 20 runs now was conclusive`."""
    when = "now" if silent.spoilt is silent.now else "in the baseline"
    return f"none of {silent.spoilt.runs} runs {when} was conclusive" if silent.spoilt.runs else "no run has ended yet"


def sentence(one: FrequencyChange) -> str:
    """`probe fails with io.EOF`."""
    subject, _, rest = one.symptom.subject.partition(" ")
    return SENTENCES[one.symptom.kind].format(subject, rest)


def figures(shift: Shift) -> str:
    """`17.50 -> 19.62 s  +2.12 [+1.95 +2.31]`; of times that did not end `≥ 60.00`."""
    digits = digits_of(shift)
    unit = " s" if shift.unit == "s" else ""
    before = f"{'≥ ' if shift.before_endless else ''}{shift.before:.{digits}f}"
    now = f"{'≥ ' if shift.now_endless else ''}{shift.now:.{digits}f}"
    moved = f"{'≥ ' if shift.now_endless else ''}{signed(shift.shift, shift.unit, digits)}"
    return f"{before} -> {now}{unit}  {moved} {interval(shift)}".rstrip()


def interval(shift: Shift, digits: int | None = None) -> str:
    """`[+1.95 +2.31]`, empty where there is none."""
    if shift.interval is None:
        return ""
    digits = digits_of(shift) if digits is None else digits
    low, high = (signed(end, shift.unit, digits) for end in (shift.interval.low, shift.interval.high))
    return f"[{low} {high}]"


def digits_of(shift: Shift) -> int:
    if shift.unit == "count":
        return 0 if (shift.before % 1, shift.now % 1, shift.shift % 1) == (0, 0, 0) else 1
    return 2 if shift.floor >= FINE_S else 3


def signed(value: float, unit: str, digits: int) -> str:
    """`+2.12`, `-0.10`, of counts `+1`; what is nothing at these digits has no minus."""
    if unit == "count" and value % 1 == 0:
        return f"{value:+.0f}"
    return f"{round(value, digits) + 0.0:+.{digits}f}"


def q_value(one: AssessedDifference) -> str:
    """`q=0.0004`; nothing where no test was needed."""
    if one.q_value is None:
        return ""
    return f"q={one.q_value:.1g}" if one.q_value >= 0.0001 else "q<0.0001"


def case_label(name: CaseKey, cases: Iterable[CaseRuns], *, client: bool) -> str:
    """`kafka-go-blackhole  kafka-go 0.4.50`, with parameters where the scenario has several cases."""
    siblings = {case.key for case in cases if case.key.scenario == name.scenario}
    parts = [name.scenario]
    if client or len({(other.client, other.version, other.driver) for other in siblings}) > 1:
        real = "real " if name.driver == "real" else ""
        parts.append(f"{real}{name.client} {name.version}".rstrip())
    if len({other.parameters for other in siblings}) > 1:
        parts.append(parameters_text([one for one in name.parameters if one[0] != "client.version"]))
    return "  ".join(part for part in parts if part)
