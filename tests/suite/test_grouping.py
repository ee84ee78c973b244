"""Protects verdicts over many runs: a right prediction is refuted in fewer than one suite of a thousand, a wrong one is
found, too few runs decide nothing and say how many it takes.

Runs are drawn from known distributions, so that the truth is known; what judges them is all there.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from harness.language import load, plans
from harness.plan import RunPlan
from harness.records.group import GroupRecord
from harness.records.run import KernelRecord, MeasureRecord, NoiseRecord, OperationRecord, RunRecord, Verdict
from harness.stats.binomial import at_least
from harness.suite.grouping import FAMILYWISE_ERROR_RATE, MIN_FAMILY_SIZE, judge_groups

pytestmark = pytest.mark.ci

TEXT = """\
format: 1
scenario: {name}
about: A constructor with luck.
client: {{profile: sarama, version: 1.27.2, bootstrap: [1, dark, dark]}}
settings: {{Net.DialTimeout: 100ms}}
cluster: {{brokers: 1, topics: [{{name: orders}}]}}
steps:
  - {{do: connect, as: probe}}
expect:
{expect}
repeat: {repeat}
"""
MEAN = "  - {mean: probe.time_to_end, between: [0s, 300ms], equals: Net.DialTimeout, within: 30ms}"
SHARE = "  - {share: \"probe.outcome == 'failed'\", equals: 1/6, within: 0.08}"
QUANTILE = "  - {quantile: probe.time_to_end, q: 0.9, equals: 2*Net.DialTimeout, within: 20ms}"
Draw = Callable[[Random], float]


def plans_of(folder: Path, *expect: str, repeat: int, name: str = "luck") -> tuple[RunPlan, ...]:
    path = folder / f"{name}.scenario.yaml"
    path.write_text(TEXT.format(name=name, expect="\n".join(expect), repeat=repeat))
    return plans(load(path), environment="sim", seed=7)


def run_of(
    plan: RunPlan, time_s: float | None = 0.1, *, outcome: Any = "ok", verdict: Verdict = "pass", **more: Any
) -> RunRecord:
    """A run whose constructor took so long; None: it gave no time."""
    measures = [] if time_s is None else [MeasureRecord(name="probe.time_to_end", unit="s", value=time_s)]
    return RunRecord(
        run_id=plan.run_id, attempt=1, scenario=plan.scenario, path=str(plan.path), client="sarama",
        client_version="1.27.2", driver="bundled", environment="sim", brokers=1, bootstrap=plan.client.bootstrap,
        seed=plan.seed, repeat=plan.repeat, started_at="", duration_s=0.0, verdict=verdict,
        measures=more.pop("measures", measures), noise=NoiseRecord(loop_lag_p99_s=0, loop_lag_max_s=0, samples=0),
        kernel=KernelRecord(release="", hz=250), operations=(OperationRecord(
            alias="probe", operation="connect", started_ns=0, ended_ns=0, outcome=outcome, stamped="subject",
        ),), **more,
    )  # fmt: skip


def judged(made: Sequence[RunPlan], *runs: RunRecord) -> GroupRecord:
    (group,) = judge_groups(made, runs)
    return group


def failures(made: Sequence[RunPlan], failed: int) -> list[RunRecord]:
    return [run_of(plan, outcome="failed" if n < failed else "ok") for n, plan in enumerate(made)]


def test_a_share_holds_fails_or_has_too_few_runs(tmp_path: Path) -> None:
    many = plans_of(tmp_path, SHARE, repeat=480)
    held = judged(many, *failures(many, 80))
    assert (held.verdict, held.outcome, held.reason, held.needed) == ("pass", "held", None, None)
    assert (held.estimate, held.predicted, held.runs, held.measured) == (80 / 480, 1 / 6, 480, 480)
    assert held.interval_low is not None
    assert held.interval_high is not None
    assert held.low is not None
    assert held.low < held.interval_low < 1 / 6 < held.interval_high
    failed = judged(many, *failures(many, 200))
    assert (failed.verdict, failed.outcome) == ("fail", "failed")
    assert failed.reason == "0.417 over 480 runs: the true value is above 0.247"
    few = judged(many[:34], *failures(many[:34], 6))
    assert (few.verdict, few.needed) == ("inconclusive", 471)
    assert few.reason == "34 runs are too few for this tolerance: needs 471 runs"


def test_runs_that_suffice_by_number_hold_at_the_predicted_share(tmp_path: Path) -> None:
    many = plans_of(tmp_path, SHARE, repeat=471)
    assert judged(many, *failures(many, round(471 / 6))).verdict == "pass"
    assert judged(many[:450], *failures(many[:450], 75)).verdict == "inconclusive"


def test_out_of_bounds_by_a_hair_is_no_failure_but_asks_for_more(tmp_path: Path) -> None:
    many = plans_of(tmp_path, SHARE, repeat=480)
    found = judged(many, *failures(many, 140))
    assert found.verdict == "inconclusive"
    assert found.reason is not None
    assert found.reason.startswith("0.292 is out of bounds, but chance may have done it: needs ")
    assert found.needed is not None
    assert found.needed > 480


def test_few_runs_may_fail_where_they_exclude_the_bounds(tmp_path: Path) -> None:
    made = plans_of(tmp_path, SHARE, repeat=20)
    assert judged(made, *failures(made, 20)).verdict == "fail"


def test_bounds_have_their_sides(tmp_path: Path) -> None:
    at_most = SHARE.replace("equals: 1/6", "at_most: 0.5")
    made = plans_of(tmp_path, at_most, repeat=700)
    assert judged(made, *failures(made, 0)).verdict == "pass"
    assert judged(made, *failures(made, 700)).verdict == "fail"
    made = plans_of(tmp_path, at_most.replace("at_most", "at_least"), repeat=700)
    assert judged(made, *failures(made, 0)).verdict == "fail"
    assert judged(made, *failures(made, 700)).verdict == "pass"


@pytest.mark.parametrize(
    ("failed", "holds", "outcome", "verdict"),
    [(80, True, "held", "pass"), (80, False, "held", "fail"), (300, False, "refuted", "pass"),
     (300, True, "refuted", "fail"), (300, None, "refuted", "pass"), (80, None, "held", "pass")],
)  # fmt: skip
def test_claims_fail_only_against_what_is_declared(
    tmp_path: Path, failed: int, holds: bool | None, outcome: str, verdict: str
) -> None:
    declared = "" if holds is None else f", holds: {str(holds).lower()}"
    claim = SHARE.replace("equals", "claim").replace("}", f", source: somebody{declared}}}")
    made = plans_of(tmp_path, claim, repeat=480)
    found = judged(made, *failures(made, failed))
    assert (found.outcome, found.verdict) == (outcome, verdict)


def test_runs_that_show_nothing_may_have_been_anything(tmp_path: Path) -> None:
    made = plans_of(tmp_path, SHARE, repeat=500)
    runs = failures(made, 83)
    spoilt = [run_of(plan, verdict="inconclusive", reasons=("the fault dropped 0 packets",)) for plan in made[400:]]
    few = judged(made, *runs[:495], *spoilt[-5:])
    assert (few.verdict, few.measured) == ("pass", 495)
    many = judged(made, *runs[:400], *spoilt)
    assert (many.verdict, many.measured) == ("inconclusive", 400)
    assert many.reason is not None
    assert many.reason.endswith("(100 showed nothing: the fault dropped 0 packets)")


def test_nothing_measured_is_nothing_proven(tmp_path: Path) -> None:
    made = plans_of(tmp_path, MEAN, repeat=60)
    found = judged(made, *(run_of(plan, None) for plan in made))
    assert (found.verdict, found.estimate, found.measured) == ("inconclusive", None, 0)
    assert "no probe.time_to_end" in found.reason


def test_a_mean_is_judged_and_a_value_that_should_not_be_spoils_it(tmp_path: Path) -> None:
    made = plans_of(tmp_path, MEAN, repeat=250)
    rng = Random(1)
    times = [rng.randrange(3) / 10 for _ in made]
    right = judged(made, *(run_of(plan, time) for plan, time in zip(made, times, strict=True)))
    assert right.verdict == "pass"
    late = judged(made, *(run_of(plan, min(0.3, time + 0.12)) for plan, time in zip(made, times, strict=True)))
    assert late.verdict == "fail"
    few = judged(made[:30], *(run_of(plan, time) for plan, time in zip(made[:30], times, strict=False)))
    assert few.verdict == "inconclusive"
    assert few.needed is not None
    assert 100 < few.needed < 400
    stray = judged(
        made, *(run_of(plan, time) for plan, time in zip(made[1:], times, strict=False)), run_of(made[0], 0.4)
    )
    assert (stray.verdict, stray.reason) == (
        "inconclusive", "a run gave 0.400 s, not between 0.000 s and 0.300 s as every run should",
    )  # fmt: skip


def test_a_quantile_knows_what_had_not_ended(tmp_path: Path) -> None:
    made = plans_of(tmp_path, QUANTILE, repeat=200)
    assert judged(made, *(run_of(plan, 0.2) for plan in made)).verdict == "pass"
    assert judged(made, *(run_of(plan, 0.1) for plan in made)).verdict == "fail"
    unended = (MeasureRecord(name="probe.time_to_end", unit="s", censored_at=60.0),)
    rarely = [run_of(plan, 0.2, **({"measures": unended} if n < 3 else {})) for n, plan in enumerate(made)]
    assert judged(made, *rarely).verdict == "pass"
    often = [run_of(plan, 0.2, **({"measures": unended} if n < 60 else {})) for n, plan in enumerate(made)]
    assert judged(made, *often).verdict == "fail"
    few = judged(made[:50], *(run_of(plan, 0.2) for plan in made[:50]))
    assert (few.verdict, few.needed) == ("inconclusive", 101)


def test_a_bound_on_one_side_needs_no_runs_for_the_other(tmp_path: Path) -> None:
    """Half of the values are far below: that leaves a median open below, and says nothing against its upper bound."""
    at_most = QUANTILE.replace("equals", "at_most").replace("q: 0.9", "q: 0.5")
    made = plans_of(tmp_path, at_most, repeat=60)
    runs = [run_of(plan, 0.2 if n % 2 else 0.0) for n, plan in enumerate(made)]
    assert judged(made, *runs).verdict == "pass"
    both = plans_of(tmp_path, at_most.replace("at_most", "equals"), repeat=60, name="both")
    assert judged(both, *[run_of(p, 0.2 if n % 2 else 0.0) for n, p in enumerate(both)]).verdict != "pass"


def test_cases_of_which_a_run_is_missing_are_not_judged(tmp_path: Path) -> None:
    made = plans_of(tmp_path, SHARE, repeat=3)
    assert judge_groups(made, failures(made, 0)[:2]) == ()


def test_what_does_not_apply_is_skipped(tmp_path: Path) -> None:
    made = plans_of(tmp_path, SHARE.replace("}", ", when: cluster.brokers == 2}"), repeat=3)
    found = judged(made, *failures(made, 0))
    assert (found.verdict, found.outcome, found.level) == ("skipped", "skipped", None)


def test_the_chance_is_shared_evenly_and_as_if_by_twenty_at_least(tmp_path: Path) -> None:
    made = plans_of(tmp_path, SHARE, MEAN, repeat=2)
    groups = judge_groups(made, failures(made, 0))
    assert [group.level for group in groups] == [FAMILYWISE_ERROR_RATE / MIN_FAMILY_SIZE] * 2
    many = plans_of(tmp_path, *[SHARE] * 50, repeat=2, name="fifty")
    assert {group.level for group in judge_groups(many, failures(many, 0))} == {FAMILYWISE_ERROR_RATE / 50}


def test_fewer_than_one_suite_in_a_thousand_raises_a_false_alarm(tmp_path: Path) -> None:
    """Each suite: a share and a mean whose true values lie at the very edge of their bounds.

    24 runs are too few to hold anything, but enough to fail: no suite may be failed by chance.
    """
    suites, runs = 700, 24
    made = plans_of(tmp_path, SHARE, MEAN, repeat=runs)
    edge = 1 / 6 + 0.08
    # Mostly nothing, rarely the most: where a mean known by its spread alone would be refuted many times too often.
    draws: tuple[Draw, ...] = (
        lambda rng: 0.3 * (rng.random() < 0.13 / 0.3),
        lambda rng: 0.3 * (rng.random() < 0.07 / 0.3),
        lambda rng: 0.07 + 0.12 * rng.random(),
    )
    rng = Random(20260302)
    alarms = 0
    for suite in range(suites):
        draw = draws[suite % len(draws)]
        records = [run_of(plan, draw(rng), outcome="failed" if rng.random() < edge else "ok") for plan in made]
        alarms += any(group.verdict == "fail" for group in judge_groups(made, records))
    # So many alarms come with less than a millionth's chance where each suite raises one in a thousand.
    assert at_least(alarms, suites, FAMILYWISE_ERROR_RATE) > 1e-6


def test_a_wrong_prediction_is_found_with_the_runs_that_it_asks_for(tmp_path: Path) -> None:
    """A guarantee is cheap where nothing ever fails: a share off by more than twice the tolerance is refuted."""
    made = plans_of(tmp_path, SHARE, repeat=471)
    rng = Random(7)
    found = [
        judged(made, *failures(made, sum(rng.random() < 1 / 6 + 0.2 for _ in made))).verdict for _ in range(20)
    ]  # fmt: skip
    assert found.count("fail") >= 18
    right = [judged(made, *failures(made, sum(rng.random() < 1 / 6 for _ in made))).verdict for _ in range(20)]
    assert right == ["pass"] * 20
