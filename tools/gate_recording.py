"""Keeps of a results folder what `bench/gate_errors.py` draws from: `bench/data/gate_runs.json`, run by run.

    faultlab run --env local --repeat 40 --cells 8 --out DIR $(python tools/gate_recording.py --scenarios)
    python tools/gate_recording.py DIR

Runs that are not conclusive are left out; the machine should have nothing else to do. Nothing is written where a
scenario is missing, or a case has too few runs left.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.comparing.samples import Sample
from harness.comparing.suite_runs import case_runs_of, inconclusive_reason
from harness.records.case_key import CaseKey, by_case
from harness.records.folder import RecordsError
from harness.records.reader import read
from harness.records.run import RunRecord

FILE = Path(__file__).parent.parent / "bench" / "data" / "gate_runs.json"
SCENARIOS = (
    "killed", "paused", "slow-answer", "leader-killed", "heal-in-back-off", "reset-mid-request", "bootstrap-refused",
    "heal-in-read-wait", "call-until-acknowledged", "zombie", "latency", "stale-bootstrap", "heal-in-mid-dial",
    "breaker-open",
)  # fmt: skip
EXCLUDED_MEASURES = ("waits(", "waited(")
"""Measures that explain a difference; the gate never compares them."""
MIN_RUNS = 30
"""Fewer conclusive runs of a case are too few to draw from."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the file. 1 where a scenario is missing or a case has too few conclusive runs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--scenarios", action="store_true", help="the options that choose the scenarios")
    given = parser.parse_args(arguments)
    if given.scenarios:
        print(*(f"--only sarama-{name}" for name in SCENARIOS))
        return 0
    if given.folder is None:
        parser.error("name the results folder")
    try:
        results = read(given.folder)
    except RecordsError as error:
        parser.error(str(error))
    together = {
        key: [run for run in runs if inconclusive_reason(run) is None] for key, runs in by_case(results.runs).items()
    }
    few = [_case_label(key, len(runs)) for key, runs in sorted(together.items()) if len(runs) < MIN_RUNS]
    gone = [name for name in SCENARIOS if f"sarama-{name}" not in {case.scenario for case in together}]
    for problem, which in (("not run", gone), (f"fewer than {MIN_RUNS} conclusive runs", few)):
        if which:
            print(f"{problem}: {', '.join(which)}", file=sys.stderr)
    if few or gone:
        return 1
    head = {
        "made_by": "tools/gate_recording.py", "machine": results.manifest.machine,
        "faultlab": results.manifest.faultlab, "environment": results.manifest.environment,
    }  # fmt: skip
    blocks = ",\n".join("  {\n" + ",\n".join(_case(key, runs)) + "\n  }" for key, runs in sorted(together.items()))
    lines = "".join(f"{json.dumps(key)}: {json.dumps(value)},\n" for key, value in head.items())
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text("{\n" + lines + f'"cases": [\n{blocks}\n]\n}}\n', encoding="utf-8")
    print(f"{FILE}: {len(together)} cases, {sum(map(len, together.values()))} runs")
    return 0


def _case_label(key: CaseKey, runs: int) -> str:
    parameters = " ".join(f"{parameter}={text}" for parameter, text in key.parameters)
    return f"{key.scenario} {parameters}".rstrip() + f" ({runs})"


def _case(key: CaseKey, runs: Sequence[RunRecord]) -> Iterator[str]:
    cases = [case_runs_of([run]) for run in runs]
    name = [key.scenario, key.client, key.version, key.driver, key.environment, key.parameters]
    yield f'    "name": {json.dumps(name)}'
    yield f'    "operations": {json.dumps(list(cases[0].operations))}'
    yield f'    "late_s": {json.dumps([case.timer_lag_s for case in cases])}'
    symptoms = sorted({str(symptom) for case in cases for symptom in case.happened})
    for symptom in symptoms:
        flags = [int(any(str(one) == symptom for one in case.happened)) for case in cases]
        yield f"    {json.dumps(f'happened {symptom}')}: {json.dumps(flags)}"
    measures = sorted({measure for case in cases for measure in case.samples})
    for measure in measures:
        if not any(word in measure for word in EXCLUDED_MEASURES):
            unit = next(case.samples[measure].unit for case in cases if measure in case.samples)
            values = [_value(case.samples.get(measure)) for case in cases]
            yield f"    {json.dumps(f'{unit} {measure}')}: {json.dumps(values)}"


def _value(sample: Sample | None) -> float | str | None:
    """Seconds or a count; a bound as text where it had not ended; null where the run has no value."""
    if sample is None:
        return None
    return sample.values[0] if sample.values else str(sample.censored[0])


if __name__ == "__main__":
    raise SystemExit(main())
