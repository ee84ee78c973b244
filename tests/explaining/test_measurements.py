"""Protects the row `measured`: what stands there was measured of the very wait that is explained."""

from pathlib import Path

from harness.conductor import conduct
from harness.environments.sim.environment import SimEnvironment
from harness.explaining import CaseCatalogue, Question, configure_case, measurements, predictions
from harness.judging import judge
from harness.records.folder import ResultsFolder
from harness.records.manifest import Manifest
from harness.records.reader import Results
from harness.records.run import RunRecord
from harness.suite.machine import wall_clock
from harness.suite.recording import run_record

RELEASE = "1.27.2"


def ran(library: CaseCatalogue, name: str, **given: str) -> RunRecord:
    (case,) = (case for case in library.cases if case.name == name)
    plan = configure_case(case, Question(version=RELEASE, given={**case.settings, **given})).plan
    story = SimEnvironment(conduct).run(plan, lambda _: None, None)
    return run_record(plan, story, judge(plan, story), started_at=wall_clock(), duration_s=0.0)


def test_another_formula_that_reads_alike_is_another_measurement(sarama: CaseCatalogue, tmp_path: Path) -> None:
    """`Producer.Retry.Backoff` is all that a reset costs, and all that an open breaker costs: two different pauses."""
    backoff = {"Producer.Retry.Backoff": "300ms"}
    runs = (
        ran(sarama, "breaker", **backoff),
        ran(sarama, "reset-mid-request", **backoff, **{"Producer.Retry.Max": "1"}),
    )
    manifest = Manifest.model_construct(run_ids=tuple(run.run_id for run in runs))
    (case,) = (case for case in sarama.cases if case.name == "reset-mid-request")
    (prediction,) = predictions(configure_case(case, Question(version=RELEASE, given=backoff)))
    expectation = prediction.expectation
    alike = [judged for run in runs for judged in run.expectations if judged.formula == expectation.formula]
    assert {judged.predicted for judged in alike} == {0.3}
    assert len({judged.name for judged in alike}) == 2
    results = Results(folder=ResultsFolder(tmp_path), manifest=manifest, runs=runs, tries=runs, quarantined=())
    (found,) = measurements(
        results, client="sarama", version=RELEASE, expectation=expectation, predicted_s=prediction.seconds
    )
    assert (found.runs, found.environment) == (1, "sim")
    assert abs(found.median_s - 0.3) < 0.01
