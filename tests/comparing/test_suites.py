"""Protects how runs become the cases that are compared: chosen by name, without what proves nothing."""

import suites

from harness.comparing.cases import select_scenarios
from harness.comparing.suite_runs import case_runs_of
from harness.records.run import LabErrorRecord

ERROR = "probe.time_to_error"


def test_each_name_that_is_asked_for_selects() -> None:
    side = suites.side(*(suites.case(name) for name in ("kafka-go-dark", "sarama-dark", "java-dark")))
    assert select_scenarios(side, ()) is side
    chosen = select_scenarios(side, ("kafka-go-*", "java-dark"))
    assert [case.key.scenario for case in chosen.cases] == ["kafka-go-dark", "java-dark"]


def test_a_run_in_which_the_lab_failed_proves_nothing() -> None:
    runs = suites.repeated(suites.spread(2.0))
    failed = suites.record(repeat=99, time_s=9.0, verdict="lab_error")
    failed = failed.model_copy(update={"error": LabErrorRecord.model_construct(text="the proxy did not start")})
    case = case_runs_of([*runs, failed])
    assert (case.runs, case.counted, case.reasons) == (21, 20, ("the proxy did not start",))
    assert max(case.samples[ERROR].values) < 3
