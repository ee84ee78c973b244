"""A baseline as a file that is kept with the code. It is made for review: every measure and setting has a line.

Sorted, with times in milliseconds and counts as how often each occurred, so that `git diff` shows what changed.
"""

import json
import shlex
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from harness.comparing.cases import CaseRuns, SuiteRuns, matches, printable
from harness.comparing.floor import DEFAULT_FLOOR, Floor, parse_floor
from harness.comparing.samples import Sample
from harness.comparing.symptoms import Symptom
from harness.quantities import QuantityError
from harness.records.atomic import write_atomically
from harness.records.case_key import CaseKey
from harness.records.folder import RecordsError, ResultsUnreadable, ResultsUnwritable
from harness.records.run import EMBEDDED

FORMAT = 1
"""Version of the file's format: fields are added, never changed; newer numbers are refused."""
MAX_BYTES = 256 << 20
"""Larger than any baseline: a thousand runs of each of a thousand cases take a quarter of it."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)


MAX_VALUE = 1e12
"""Larger times in milliseconds and larger counts are corrupt."""
Milliseconds = Annotated[float, Field(ge=0, le=MAX_VALUE)]


def _printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("a name holds what cannot be printed")
    return text


Name = Annotated[str, Field(max_length=300), AfterValidator(_printable)]
"""A name that can be shown on terminals and in CI logs as it is."""
Text = Annotated[str, AfterValidator(printable)]
"""What programs and scenarios say: it may hold anything, so it is made printable."""


class _Times(_Part):
    ms: tuple[Milliseconds, ...] = ()
    unended_ms: tuple[Milliseconds, ...] = ()


class _Case(_Part):
    scenario: Name
    client: Name
    version: Name
    driver: Literal["bundled", "real", "exec"]
    environment: Name
    parameters: dict[Name, Name] = Field(default_factory=dict)
    broker: Name = EMBEDDED
    broker_version: Name = ""
    runs: int = Field(ge=0)
    counted: int = Field(ge=0)
    reasons: tuple[Text, ...] = ()
    late_ms: Milliseconds = 0.0
    settings: dict[Text, Text] = Field(default_factory=dict)
    operations: tuple[Text, ...] = ()
    happened: dict[Text, int] = Field(default_factory=dict)
    times: dict[Text, _Times] = Field(default_factory=dict)
    counts: dict[Text, dict[str, int]] = Field(default_factory=dict)

    @field_validator("happened")
    @classmethod
    def _known(cls, happened: dict[str, int]) -> dict[str, int]:
        for text in happened:
            Symptom.parse(text)
        return happened

    @field_validator("counts")
    @classmethod
    def _numbers(cls, counts: dict[str, dict[str, int]]) -> dict[str, dict[str, int]]:
        for name, tally in counts.items():
            for text, times in tally.items():
                try:
                    number = float(text)
                except ValueError:
                    number = -1.0
                if not 0 <= number <= MAX_VALUE or times < 0:
                    raise ValueError(f"{name}: {text} is no count")
        return counts

    @model_validator(mode="after")
    def _no_more_than_counted(self) -> "_Case":
        """A typing error must not make a sample of millions."""
        runs = {name: len(times.ms) + len(times.unended_ms) for name, times in self.times.items()}
        runs |= {name: sum(tally.values()) for name, tally in self.counts.items()}
        runs |= self.happened
        more = next((name for name, number in runs.items() if not 0 <= number <= self.counted), None)
        if more is not None or self.counted > self.runs:
            raise ValueError(f"{more or 'counted'} has more runs than there were")
        return self


class _Head(_Part):
    format: int


class _File(_Head):
    faultlab: Name
    machine: Name
    floor: str = str(DEFAULT_FLOOR)
    arguments: tuple[str, ...] = ()
    cases: tuple[_Case, ...]

    @field_validator("floor")
    @classmethod
    def _floor(cls, text: str) -> str:
        try:
            parse_floor(text)
        except QuantityError as error:
            raise ValueError(f"{error.text}; {error.hint}") from error
        return text

    @field_validator("cases")
    @classmethod
    def _each_once(cls, cases: tuple[_Case, ...]) -> tuple[_Case, ...]:
        names = Counter(_key_of(case) for case in cases)
        twice = next((name for name, number in names.items() if number > 1), None)
        if twice is not None:
            raise ValueError(f"a case of {twice.scenario} stands there twice")
        return cases


class BaselineMismatch(RecordsError):
    """A part of a baseline cannot be replaced: the new runs are of another machine."""


def read_baseline(path: Path) -> SuiteRuns:
    """Raises ResultsUnreadable: no such file, no baseline, or one of a newer format."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ResultsUnreadable(
            f"cannot read {path}: {error.strerror}", "name a results folder, or a file that `gate --update` wrote"
        ) from error
    if len(data) > MAX_BYTES:
        raise ResultsUnreadable(
            f"{path} is no baseline: it is longer than {MAX_BYTES >> 20} MiB",
            "name a results folder, or a file that `gate --update` wrote",
        )
    try:
        # A newer format may have anything in it: its number is looked at before the rest.
        version = _Head.model_validate_json(data).format
        if version > FORMAT:
            raise ResultsUnreadable(
                f"{path} was written by a newer faultlab: baseline format {version}, this one reads up to {FORMAT}",
                "read it with that version",
            )
        found = _File.model_validate_json(data)
    except ValidationError as error:
        no_json = error.errors(include_url=False)[0]["type"] == "json_invalid"
        raise ResultsUnreadable(
            f"{path} is no baseline: {'it is no JSON' if no_json else _reason(error, data)}",
            "name a results folder, or a file that `gate --update` wrote; if this is one, it was changed or cut since:"
            f" undo that, or delete it and write it again: faultlab gate --update --baseline {shlex.quote(str(path))}",
        ) from error
    return SuiteRuns(
        source=str(path),
        machine=found.machine,
        faultlab=found.faultlab,
        cases=tuple(_case_of(case) for case in found.cases),
        arguments=found.arguments,
        floor=parse_floor(found.floor),
    )


def write_baseline(path: Path, side: SuiteRuns, floor: Floor) -> None:
    """Whole or not at all. Raises ResultsUnwritable."""
    try:
        write_atomically(path, baseline_text(side, floor).encode())
    except OSError as error:
        raise ResultsUnwritable(
            f"cannot write {path}: {error.strerror}", "name a file that can be written with --baseline"
        ) from error


def merge_into_baseline(baseline: SuiteRuns, current: SuiteRuns, only: tuple[str, ...]) -> SuiteRuns:
    """The baseline with the cases of the scenarios that match `only` replaced by those that ran now.

    Raises BaselineMismatch where the two are of different machines.
    """
    if baseline.machine != current.machine and not (baseline.simulated and current.simulated):
        raise BaselineMismatch(
            f"{baseline.source} was made on another machine ({baseline.machine}): a part of it cannot be replaced",
            "write all of it again, without --only",
        )
    kept = tuple(case for case in baseline.cases if not matches(case.key.scenario, only))
    return replace(baseline, faultlab=current.faultlab, cases=(*kept, *current.cases))


def baseline_text(side: SuiteRuns, floor: Floor) -> str:
    """The file's text: JSON, one line for each measure."""
    head = {
        "format": FORMAT, "faultlab": side.faultlab, "machine": side.machine, "floor": str(floor),
        "arguments": list(side.arguments),
    }  # fmt: skip
    lines = [f"  {_json_member(key, value)}," for key, value in head.items()]
    cases = sorted(side.cases, key=lambda case: case.key)
    separator = ",\n"
    blocks = separator.join(f"    {{\n{separator.join(_block(case))}\n    }}" for case in cases)
    return "{\n" + "\n".join(lines) + f'\n  "cases": [\n{blocks}\n  ]\n}}\n'


def _block(case: CaseRuns) -> Iterator[str]:
    plain: dict[str, Any] = {
        **case.key.as_json(), "runs": case.runs, "counted": case.counted, "reasons": list(case.reasons),
        "late_ms": _ms(case.timer_lag_s), "operations": list(case.operations),
        "happened": {str(symptom): number for symptom, number in sorted(case.happened.items())},
    }  # fmt: skip
    yield from (f"      {_json_member(key, value)}" for key, value in plain.items() if value not in ({}, []))
    times = {name: _sample_json(sample) for name, sample in case.samples.items() if sample.unit == "s"}
    counts = {name: _sample_json(sample) for name, sample in case.samples.items() if sample.unit == "count"}
    for key, part in (("settings", case.settings), ("times", times), ("counts", counts)):
        if part:
            lines = ",\n".join(f"        {_json_member(name, value)}" for name, value in sorted(part.items()))
            yield f'      "{key}": {{\n{lines}\n      }}'


def _sample_json(sample: Sample) -> dict[str, Any]:
    if sample.unit == "count":
        return {f"{value:g}": number for value, number in sorted(Counter(sample.values).items())}
    # The median is for reviewers: it is not read back.
    times: dict[str, Any] = {"median_ms": _ms(sample.median), "ms": [_ms(value) for value in sample.values]}
    return times | ({"unended_ms": [_ms(bound) for bound in sample.censored]} if sample.censored else {})


def _case_of(case: _Case) -> CaseRuns:
    samples = {name: Sample("s", _seconds(times.ms), _seconds(times.unended_ms)) for name, times in case.times.items()}
    for name, tally in case.counts.items():
        numbers = sorted(float(text) for text, times in tally.items() for _ in range(times))
        samples[name] = Sample("count", tuple(numbers))
    return CaseRuns(
        key=_key_of(case),
        runs=case.runs,
        counted=case.counted,
        reasons=case.reasons,
        samples={name: sample for name, sample in samples.items() if len(sample)},
        happened={Symptom.parse(text): number for text, number in case.happened.items()},
        operations=case.operations,
        settings=case.settings,
        timer_lag_s=case.late_ms / 1000,
    )


def _key_of(case: _Case) -> CaseKey:
    return CaseKey(
        scenario=case.scenario,
        client=case.client,
        version=case.version,
        driver=case.driver,
        environment=case.environment,
        parameters=tuple(case.parameters.items()),
        broker=case.broker,
        broker_version=case.broker_version,
    )


def _seconds(values_ms: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(sorted(round(value / 1000, 4) for value in values_ms))


def _ms(value_s: float) -> float:
    return round(value_s * 1000, 1)


def _json_member(key: str, value: Any) -> str:
    return f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}"


def _reason(error: ValidationError, data: bytes) -> str:
    """`cases.0.counted: ... (the case of sarama-killed)`: the scenario helps to find the case in the file."""
    first = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    message = first["msg"].removeprefix("Value error, ")
    text = f"{where}: {message}" if where else message
    with suppress(ValueError, LookupError, TypeError):
        scenario = json.loads(data)["cases"][first["loc"][1]]["scenario"]
        text += f" (the case of {scenario})" if str(scenario).isprintable() else ""
    return text
