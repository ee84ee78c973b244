"""Protects what scenarios may expect of many runs, of recovery and of the log: plans hold it, mistakes are told."""

from collections.abc import Callable
from typing import Any

import pytest

from harness.language import evaluate
from harness.plan import PlannedOperation, RepeatUntil, RunPlan, Statistic

POINT = "{measure: probe.time_to_error, equals: 2*Net.ReadTimeout, within: 1% + 50ms}"
INJECT = "{inject: blackhole, brokers: all, as: outage}"
PROBE = "{do: send, as: probe, give_up_after: 60s}"
SHARE = "{share: \"probe.outcome == 'failed'\", equals: 1/6, within: 0.08}"
Made = Callable[..., Any]


def plan_of(changed: Made, *changes: tuple[str, str]) -> RunPlan:
    (plan,) = changed(*changes).load().cells
    assert isinstance(plan, RunPlan)
    return plan


def statistic_of(changed: Made, text: str) -> Statistic:
    (statistic,) = plan_of(changed, (POINT, text)).statistics
    return statistic


def test_a_share_is_a_condition_with_a_number_for_its_bound(changed: Made) -> None:
    found = statistic_of(changed, SHARE)
    assert (found.statistic, found.of, found.unit) == ("share", "probe.outcome == 'failed'", "share")
    assert (found.kind, found.formula, found.within_absolute, found.within_relative) == ("equals", "1/6", 0.08, 0.0)


def test_a_mean_of_a_time_lies_between_nothing_and_the_labs_patience(changed: Made) -> None:
    found = statistic_of(changed, "{mean: probe.time_to_end, at_most: 4*DialTimeout, within: 5%}")
    assert (found.unit, found.lowest, found.highest, found.within_relative) == ("s", 0.0, 60.0, 0.05)
    text = "{mean: probe.dials, between: [0, cluster.brokers + 9], equals: 4, within: 0.5}"
    counted = statistic_of(changed, text)
    assert (counted.unit, counted.lowest, counted.highest, counted.within_absolute) == ("count", 0.0, 10.0, 0.5)


def test_a_quantile_and_a_claim_of_one(changed: Made) -> None:
    found = statistic_of(
        changed, "{quantile: probe.time_to_error, q: 0.9, claim: 3s, within: 50ms, holds: false, source: A1}"
    )
    assert (found.statistic, found.q, found.kind, found.holds, found.source) == ("quantile", 0.9, "claim", False, "A1")


def test_means_and_quantiles_tell_how_long_a_run_takes(changed: Made) -> None:
    plan = plan_of(changed, (POINT, "{mean: probe.time_to_end, equals: 8.75s, within: 5%}"))
    assert plan.expected_s == 8.75
    healed = ("as: outage}", "as: outage, for: 3s}")
    recovering = plan_of(changed, (POINT, "{measure: outage.recovery, at_most: 2s}"), healed)
    assert recovering.expected_s == 5.0


@pytest.mark.parametrize(
    ("expects", "asks"),
    [
        (POINT, False),
        ("{measure: probe.zombies, equals: 0}", True),
        ("{measure: run.lost, equals: 0}", True),
        ("{share: probe.zombies > 0, at_most: 0.5, within: 0.1}", True),
        ("{share: \"probe.written == 'written'\", equals: 1, within: 0.1}", True),
        (SHARE, False),
        ("{mean: run.duplicates, between: [0, 3], at_most: 1, within: 0.5}", True),
    ],
)
def test_the_log_is_read_where_something_asks_for_it(changed: Made, expects: str, asks: bool) -> None:
    assert plan_of(changed, (POINT, expects)).integrity is asks


def test_the_log_is_read_on_demand(changed: Made) -> None:
    assert plan_of(changed, ("\nsteps:", "\nintegrity: true\nsteps:")).integrity


def test_a_send_may_be_called_until_it_works(changed: Made) -> None:
    plan = plan_of(changed, ("as: probe,", "as: probe, every: 2s, until: acknowledged,"))
    probe = next(step for step in plan.steps if isinstance(step, PlannedOperation) and step.alias == "probe")
    assert probe.again == RepeatUntil(every_s=2.0, until="acknowledged")


def test_addresses_of_no_member_are_numbered_and_counted(changed: Made) -> None:
    counted = "{measure: connect.dials, equals: client.bootstrap.dark + client.bootstrap.refused + 1}"
    plan = plan_of(changed, ("bootstrap: [1]", "bootstrap: [dark, 1, refused, dark]"), (POINT, counted))
    assert plan.client.bootstrap == (101, 1, 201, 102)
    assert (plan.client.blackholed, plan.client.refused) == ((101, 102), (201,))


# fmt: off
MISTAKES = [
    ((SHARE, "{equals: 2s, within: 1%}"), "missing-key", "{equals: 2s, within: 1%}", "nothing says", "measure, share"),
    ((SHARE, "{measure: probe.dials, mean: probe.dials, equals: 2}"), "missing-key", "mean", "at once", "one of"),
    ((SHARE, "{maen: probe.dials, equals: 2}"), "unknown-key", "maen", "no key `maen`", "mean?"),
    ((SHARE, SHARE.replace("failed", "fail")), "unknown-value", "'fail'", "never 'fail'", "failed?"),
    ((SHARE, SHARE.replace("failed", "acknowledged")), "unknown-value", "'acknowledged'", "never", "write 'ok'"),
    ((SHARE, SHARE.replace("probe.out", "prob.out")), "unknown-name", "prob.outcome", "nothing is called", ""),
    ((SHARE, SHARE.replace("== 'failed'", "")), "unit", "probe.outcome", "is a condition", "compare it"),
    ((SHARE, "{share: probe.outcome == ok, equals: 1/6, within: 0.08}"), "unknown-name", "ok", "called ok", "'ok'"),
    ((SHARE, "{share: probe.outcome == acknowledged, equals: 1/6, within: 0.08}"),
     "unknown-name", "acknowledged", "nothing is called", "put it in quotes: 'ok'"),
    ((SHARE, "{share: probe.time_to_error > 3, equals: 1/6, within: 0.08}"),
     "unit", "probe.time_to_error", "cannot be compared", "write the number's unit"),
    ((SHARE, SHARE.replace("1/6", "7/6")), "range", "7/6", "between 0 and 1", "1/6"),
    ((SHARE, SHARE.replace("1/6", "2s")), "unit", "2s", "a share is a number", "1/6"),
    ((SHARE, SHARE.replace("0.08", "80ms")), "unit", "80ms", "is no time", "without a unit"),
    ((SHARE, SHARE.replace(", within: 0.08", "")), "missing-within", "{share", "no number of runs", "within: 0.08"),
    ((SHARE, SHARE.replace("}", ", q: 0.9}")), "expectation", "q", "belongs to a quantile", "remove"),
    ((SHARE, "{quantile: probe.time_to_end, equals: 2s, within: 1%}"),
     "expectation", "quantile", "which quantile", "q: 0.9"),
    ((SHARE, "{quantile: probe.time_to_end, q: 2, equals: 2s, within: 1%}"), "range", "2", "too large", "less than 1"),
    ((SHARE, "{mean: probe.dials, equals: 2, within: 0.5}"),
     "missing-between", "mean", "a rare large value", "between: [0, 10]"),
    ((SHARE, "{mean: probe.time_to_end, between: [3s, 1s], equals: 2s, within: 1%}"),
     "range", "[3s, 1s]", "not above", "[least, most]"),
    ((SHARE, "{mean: probe.time_to_end, between: [0, 3s], equals: 2s, within: 1%}"),
     "unit", "0", "this end a number", ""),
    ((SHARE, "{mean: probe.time_to_end, equals: 2s, within: 5}"), "quantity", "5", "not a duration", "5s or 5ms"),
    ((SHARE, "{mean: probe.tme_to_end, equals: 2s, within: 1%}"),
     "unknown-measure", "tme_to_end", "no measure", "time_to_end?"),
    ((SHARE, "{measure: probe.dials, equals: 4, q: 0.9}"), "expectation", "q", "many runs", "remove"),
    ((SHARE, "{measure: outage.recovery, equals: 1s, within: 1%}"),
     "never-healed", "outage.recovery", "until the run's end", "for: 2s"),
    ((SHARE, "{measure: outage.time_to_end, equals: 1s, within: 1%}"),
     "unfit-measure", "outage.time_to_end", "is a fault", "recovery"),
    ((SHARE, "{measure: probe.recovery, equals: 1s, within: 1%}"),
     "unfit-measure", "probe.recovery", "of a fault", "zombies"),
    ((SHARE, "{measure: run.dials, equals: 1}"), "unfit-measure", "run.dials", "the whole run", "lost"),
    ((SHARE, "{measure: probe.time_to_ack, equals: next_retransmission(0.82s), within: 1%}"),
     "formula", "next_retransmission(0.82s)", "too near to 0.820 s", ""),
    ((SHARE, "{measure: probe.time_to_ack, equals: next_syn(2), within: 1%}"),
     "unit", "next_syn(2)", "takes a duration", ""),
    ((SHARE, "{measure: probe.time_to_ack, equals: next_retransmission(outage.lasts), within: 1%}"),
     "unknown-name", "outage.lasts", "nothing is called", ""),
    (("{do: connect}", "{do: connect, as: run}"), "reserved-alias", "run", "means something else", "rename"),
    ((PROBE, PROBE.replace("}", ", every: 2s}")), "step", "every", "go together", "until: acknowledged"),
    ((PROBE, PROBE.replace("}", ", until: ok}")), "step", "until", "go together", "every: 1s"),
    ((PROBE, PROBE.replace("}", ", every: 2s, until: oka}")), "unknown-value", "oka", "does not end", "ok?"),
    ((PROBE, PROBE.replace("}", ", every: 2s, until: ok, value: x}")), "step", "value", "a value of its own", "remove"),
    (("{do: connect}", "{do: connect, every: 2s, until: ok}"), "step", "every", "called once", "remove"),
    (("bootstrap: [1]", "bootstrap: [1, drk]"), "bootstrap", "drk", "no number of a broker", "[1, dark]"),
    (("bootstrap: [1]", "bootstrap: [dark, 2]"), "no-such-broker", "2", "no broker 2", "the only broker"),
]
# fmt: on


@pytest.mark.parametrize(("change", "code", "underlined", "message", "hint"), MISTAKES)
def test_mistake(changed: Made, change: tuple[str, str], code: str, underlined: str, message: str, hint: str) -> None:
    text = changed((POINT, SHARE), change)
    problem = text.only()
    assert problem.code == code, problem
    assert text.underlined(problem).startswith(underlined)
    assert message in problem.message
    assert hint in problem.hint


def test_recovery_may_be_bound_by_what_the_kernel_does(changed: Made) -> None:
    """Healed after 1 s: sent again at 1.632 s, by the timer wheel up to 0.104 s later."""
    healed = ("as: outage}", "as: outage, for: 1s}")
    bound = "{measure: outage.recovery, equals: next_retransmission(outage.lasts) - outage.lasts, within: 50ms}"
    plan = plan_of(changed, (POINT, bound), healed)
    found = evaluate(plan.expectations[0].formula, plan)
    assert found.number == pytest.approx(0.632)
    assert (found.early_s, found.late_s) == (0.0, pytest.approx(0.072))
    turned = evaluate("5s - next_retransmission(outage.lasts)", plan)
    assert (turned.early_s, turned.late_s) == (pytest.approx(0.072), 0.0)
    twice = evaluate("next_syn(1.5s) + next_syn(2.5s)", plan)
    assert twice.number == 5.0


def test_sends_that_the_log_could_not_tell_apart_are_refused(changed: Made) -> None:
    first = PROBE.replace("}", ", value: same}")
    second = "{do: send, as: again, value: same}"
    problem = changed((PROBE, f"{first}\n  - {second}"), ("\nsteps:", "\nintegrity: true\nsteps:")).only()
    assert (problem.code, problem.message) == (
        "same-value", "`again` sends the same value as `probe`: the log cannot tell them apart",
    )  # fmt: skip
    changed((PROBE, f"{first}\n  - {second}")).load()
