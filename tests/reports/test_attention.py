"""Protects what a reader sees first: what failed, the worst first, which setting is to blame, how often was tried."""

from collections.abc import Iterable
from typing import Any

from rich_rows import group_row

from bench.inputs.synthetic_suite import SyntheticBlackhole
from reports.charts.badges import badges
from reports.pages.attempts import attempts_of, errors_without_addresses
from reports.pages.attention import AttentionCard, attention_of
from reports.pages.cases import KEY, DisplayNames, cases_of
from reports.pages.summary import headline, judged, statistics
from reports.pages.timeline_runs import FAILED, MAX_FAILED, choose_runs
from reports.pages.times import time_rows

Row = dict[str, Any]
SETTINGS = ("Net.ReadTimeout", "Net.DialTimeout", "Metadata.Retry.Backoff")
MARKS = badges(SETTINGS)


def run(repeat: int = 1, **changes: Any) -> Row:
    return {**SyntheticBlackhole().run(repeat)[0].model_dump(), "case": "", "suite": 0, **changes}


def timeout(of: Row, seconds: float, **changes: Any) -> Row:
    """A row of the expectations table: this case's median, 4.85 s predicted."""
    terms = [
        {"text": "2*Net.ReadTimeout", "setting": "Net.ReadTimeout", "count": 2.0, "each": 1.0, "total": 2.0},
        {"text": "4*Net.DialTimeout", "setting": "Net.DialTimeout", "count": 4.0, "each": 0.5, "total": 2.0},
    ]
    return {
        **{name: of[name] for name in KEY}, "measure": "probe.time_to_error", "unit": "s", "kind": "equals", "n": 1,
        "formula": "2*Net.ReadTimeout + 4*Net.DialTimeout", "source": "x", "predicted": 4.85, "low": 4.75, "high": 4.95,
        "terms": terms, "line": 3, "pairs": [{"time": seconds, "unended": False}], "min": seconds, "max": seconds,
        "median": seconds, "median_is_bound": False, "censored": 0, "held": 0, "failed": 1, "inconclusive": 0,
        "refuted": 0, "about": "", "name": "", "path": "a.scenario.yaml", "bound": "equals: x, within: 2%", **changes,
    }  # fmt: skip


def wait(of: Row, setting: str, elapsed: float, seconds: float) -> Row:
    told = {"operation": "probe", "setting": setting, "elapsed": elapsed, "total_s": seconds}
    return {**{name: of[name] for name in KEY}, **told}


def cards(runs: list[Row], timeouts: Iterable[Row], waits: Iterable[Row] = (), **more: Any) -> list[AttentionCard]:
    cases = cases_of(runs, more.get("groups", ()))
    names = DisplayNames.for_cases(cases)
    rows = time_rows(list(timeouts), cases, names)
    return list(attention_of(cases, rows, waits, names, MARKS, more.get("drawn", set())))


def test_cases_that_fail_alike_are_one_card_and_the_farthest_off_comes_first() -> None:
    near = run(scenario="near", verdict="fail", reasons=["probe.time_to_error: 5 s is above 4.9 s", "and more"])
    far = [
        run(scenario="far", verdict="fail", case=f"n={n}", run_id=f"{n:012x}", reasons=["probe.time_to_error: late"])
        for n in (1, 2)
    ]
    empty = run(scenario="empty", verdict="inconclusive", reasons=["fault `outage` dropped 0 packets"])
    timeouts = [timeout(near, 5.0), timeout(far[0], 6.0), timeout(far[1], 9.0), timeout(empty, 90.0, failed=0)]
    found = cards([empty, near, *far], timeouts, drawn={far[0]["run_id"]})
    assert [(one.scenario, one.tally) for one in found] == [
        ("far", "2 of 2 runs, 2 cases"), ("near", "the only run"), ("empty", "the only run"),
    ]  # fmt: skip
    assert [row.row["median"] for row in found[0].rows] == [9.0, 6.0]
    assert found[0].replay == f"faultlab replay {far[1]['run_id']}", "the worst of them"
    assert found[0].line == far[0]["run_id"]
    assert (found[0].reasons, found[1].reasons) == ((), ("and more",)), "the table says the others"
    assert not found[2].rows, "what tested nothing has no figures to look at"


def test_a_card_names_the_settings_that_took_more_than_the_formula_says_and_what_the_caller_got() -> None:
    bad = run(verdict="fail")
    bad["operations"] = [{**one, "error": "i/o <b>timeout</b>"} for one in bad["operations"]]
    waits = [
        wait(bad, "Net.ReadTimeout", 2, 2.01),
        wait(bad, "Net.DialTimeout", 8, 4.02),
        wait(bad, "Metadata.Retry.Backoff", 6, 1.5),
    ]
    [card] = cards([bad], [timeout(bad, 7.64)], waits)
    assert card.blame is not None
    assert card.blame.by_formula
    assert [(part.badge.setting, part.words) for part in card.blame.parts] == [
        ("Net.DialTimeout", "+2.020 s, ran out 8 times instead of 4"),
        ("Metadata.Retry.Backoff", "+1.500 s, which no term names"),
    ]
    assert card.error == "i/o <b>timeout</b>"


def test_where_a_bound_is_missed_the_longest_wait_is_what_to_lower() -> None:
    bad = run(verdict="fail")
    bound = timeout(bad, 6.0, kind="at_most", predicted=3.0, low=None, high=3.0, terms=[])
    waits = [wait(bad, "Net.ReadTimeout", 1, 1.0), wait(bad, "Net.DialTimeout", 10, 5.0)]
    [card] = cards([bad], [bound], waits)
    assert card.blame is not None
    assert (card.blame.by_formula, card.blame.lower) == (False, "Net.DialTimeout")
    assert [part.words for part in card.blame.parts] == ["5.000 s of 6.000 s, 10 \u00d7 1 s", "1.000 s, 1 \u00d7 2 s"]
    [silent] = cards([bad], [bound])
    assert silent.blame is None, "nothing is guessed of a client that tells no waits"


def test_a_limit_is_off_as_far_as_a_formula_is_and_stands_before_what_held() -> None:
    """Both are expectations of one measure: the limit is violated, the formula is not."""
    slow, near = run(scenario="slow", verdict="fail"), run(scenario="near", verdict="fail")
    limit = {"kind": "at_most", "predicted": 5.0, "low": None, "high": 5.0, "bound": "at_most: 5s", "name": "soon"}
    held = {"held": 1, "failed": 0, "predicted": 9.0, "low": 8.9, "high": 9.1, "line": 2}
    rows = [
        timeout(near, 5.5), timeout(slow, 9.0, **held), timeout(slow, 9.0, **limit, line=9),
        timeout(slow, 4.0, **{**limit, "predicted": 3.0}, measure="probe.dials", unit="count", line=10),
    ]  # fmt: skip
    first, second = cards([near, slow], rows)
    assert (first.scenario, second.scenario) == ("slow", "near"), "4 s beyond a limit is farther than 0.65 s"
    assert [(one.bound, one.verdict, one.off_text, one.place) for one in first.rows] == [
        ("at_most: 5s", "fail", "+4.000 s", "a.scenario.yaml:9"), ("at_most: 5s", "fail", "+1", "a.scenario.yaml:10"),
        ("equals: x, within: 2%", "pass", "", "a.scenario.yaml:2"),
    ]  # fmt: skip
    assert [one.name for one in first.rows] == ["soon", "soon", ""]


def test_one_late_run_of_many_is_as_far_off_as_it_is_and_the_median_is_not_blamed() -> None:
    rare, often = run(scenario="rare", verdict="fail"), run(scenario="often", verdict="fail")
    bound = {"kind": "at_most", "predicted": 60.0, "low": None, "high": 60.0, "terms": []}
    rows = [timeout(rare, 2.0, min=1.0, max=60.5, n=40, **bound), timeout(often, 61.0, **bound)]
    waits = [wait(one, "Net.ReadTimeout", 0, 60.9) for one in (rare, often)]
    found = cards([rare, often], rows, waits)
    assert [one.scenario for one in found] == ["often", "rare"], "below its bound nothing is off"
    assert found[1].blame is None, "the waits of a median run tell nothing of a rare one"
    assert found[0].blame is not None
    assert found[0].blame.lower == "", "to lower what never ran out would change nothing"
    short = cards([often], rows[1:], [wait(often, "Net.ReadTimeout", 1, 0.002)])
    assert short[0].blame is None, "two milliseconds are not where a minute went"


def test_a_statistic_that_fails_fails_its_case_though_every_run_is_well() -> None:
    runs = [run(repeat) for repeat in (1, 2, 3)]
    bad = group_row(**{name: runs[0][name] for name in KEY}, verdict="fail", reason="the true value is above 20 %")
    cases = cases_of(runs, [bad])
    assert headline(cases.values()) == "The one case failed."
    [card] = cards(runs, [], groups=[bad])
    assert (card.verdict, card.tally) == ("fail", "all 3 runs together")
    assert card.reasons == ("share of runs with probe.outcome == 'failed': the true value is above 20 %",)
    assert headline(cases_of(runs).values()) == "The one case passed."


def test_what_held_is_counted_apart_from_what_was_not_tested() -> None:
    assert judged([]) == "No expectation was judged in these runs."
    assert judged(["pass"]) == "The one expectation passed."
    assert judged(["fail"]) == "The one expectation failed."
    assert judged(["inconclusive"]) == "The one expectation is inconclusive."
    assert judged(["pass", "fail"]) == "1 of 2 expectations passed; 1 failed."
    told = judged(["pass"] * 10 + ["fail", "inconclusive"])
    assert told == "10 of 12 expectations passed; 1 failed; 1 inconclusive."
    assert statistics(["pass"]) == "The one statistic over repeats passed."
    assert statistics(["fail", "fail"]) == "0 of 2 statistics over repeats passed; 2 failed."


def test_time_lines_go_to_the_worst_case_of_each_scenario_and_client() -> None:
    def failed(scenario: str, number: int, off_s: float) -> Row:
        made = run(scenario=scenario, verdict="fail", case=f"n={number}", run_id=f"{number:012x}")
        first = made["expectations"][0]
        later = {**first, "outcome": "failed", "measured": first["predicted"] + off_s}
        return {**made, "expectations": [later, *made["expectations"][1:]]}

    runs = [failed("a", 1, 0.5), failed("b", 2, 1.0), failed("b", 3, 3.0)]
    told = [
        choice for choice in choose_runs(list(cases_of(runs).values())) if choice.why == FAILED.format(most=MAX_FAILED)
    ]
    assert [choice.run["run_id"] for choice in told] == [f"{number:012x}" for number in (3, 1)]


def tries(of: Row, tried: str, outcome: str, count: int, **changes: Any) -> Row:
    return {
        **{name: of[name] for name in KEY}, "suite": 0, "run_id": of["run_id"], "repeat": 1, "verdict": "pass",
        "operation": "probe", "tried": tried, "outcome": outcome, "count": count, "seconds": 0.5 * count, "min_s": 0.5,
        "max_s": 0.5, "errors": [], **changes,
    }  # fmt: skip


def test_tries_are_told_run_by_run_and_runs_without_any_count_as_none() -> None:
    runs = [run(repeat, run_id=f"{repeat:012x}") for repeat in (1, 2, 3)]
    plain = run(scenario="plain", run_id="f" * 12)
    cases = cases_of([*runs, plain])
    rows = [
        tries(runs[0], "dial", "timeout", 4, errors=["connect 127.0.0.1:5001: timeout"]),
        tries(runs[0], "dial", "connected", 1),
        tries(runs[1], "dial", "timeout", 6, errors=["connect 127.0.0.1:5002: timeout"], max_s=0.75),
        tries(runs[0], "refresh", "failed", 2, min_s=None, max_s=None),
        tries(plain, "attempt", "ok", 1, operation="warm_up"),
    ]
    found = attempts_of(rows, cases, DisplayNames.for_cases(cases))
    assert found is not None
    assert found.plain == 1
    [row] = found.rows
    attempts, dials, refreshes = row.kinds
    assert attempts is None
    assert dials is not None
    assert (dials.count, dials.spread, dials.endings, dials.took) == (
        5.0, "0 to 6", "4 timeout", "0.50 s to 0.75 s each",
    )  # fmt: skip
    assert refreshes is not None
    assert (refreshes.count, refreshes.took) == (0.0, "")
    assert row.errors == ("connect ADDRESS: timeout",), "they differ in their ports alone"
    assert found.finding == (
        "Most was tried by probe of sarama-blackhole-established (sarama 1.27.2): 5 dials. "
        "1 operation came through at the first try."
    )
    quiet = attempts_of([rows[-1]], cases, DisplayNames.for_cases(cases))
    assert quiet is not None
    assert quiet.finding == "Every operation came through at the first try: 1 operation."
    assert attempts_of([], cases, DisplayNames.for_cases(cases)) is None


def test_errors_are_grouped_without_their_addresses() -> None:
    told = [
        "read tcp 127.0.0.1:401->127.0.2.1:9092: i/o timeout", "read tcp 127.0.0.1:550->127.0.2.3:9092: i/o timeout",
        "read tcp [::1]:5->[fe80::1]:9092: i/o timeout", "dial tcp 127.0.2.1:9092: connect: connection refused", "EOF",
    ]  # fmt: skip
    assert errors_without_addresses(told, most=3) == (
        "read tcp ADDRESS: i/o timeout", "dial tcp ADDRESS: connect: connection refused", "EOF",
    )  # fmt: skip


def test_a_card_is_copied_as_a_summary_with_all_that_a_ticket_needs() -> None:
    bad = run(verdict="fail", case="Producer.Retry.Max=1", suite=3)
    bad["operations"] = [{**one, "error": "i/o timeout"} for one in bad["operations"]]
    cases = cases_of([bad], folders={3: "/results/of me"})
    names = DisplayNames.for_cases(cases)
    rows = time_rows([timeout(bad, 7.64)], cases, names)
    [card] = attention_of(cases, rows, [wait(bad, "Net.DialTimeout", 8, 4.02)], names, MARKS, set())
    told = card.summary
    for text in (
        "FAIL",
        bad["scenario"],
        "Producer.Retry.Max 1",
        "4.850 s",
        "7.640 s",
        "Net.DialTimeout",
        "i/o timeout",
    ):
        assert text in told
    assert told.endswith(f"faultlab replay {bad['run_id']} --in '/results/of me'"), "it works wherever it is pasted"


def test_an_inconclusive_case_says_how_late_the_lab_was() -> None:
    noisy = run(verdict="inconclusive", reasons=["the machine was too noisy"])
    late = timeout(noisy, 5.0, failed=0, inconclusive=1, median=None, min=None, max=None, pairs=[], late_s=0.412)
    [card] = cards([noisy], [late])
    assert len(card.late) == 1
    assert "probe.time_to_error" in card.late[0]
    assert "0.41 s" in card.late[0]
    [calm] = cards([noisy], [{**late, "late_s": None}])
    assert calm.late == ()


def test_a_dial_that_the_wire_saw_is_no_call_that_came_through() -> None:
    lost = run(scenario="lost")
    cases = cases_of([lost])
    rows = [tries(lost, "dial", "seen on the wire", 1), tries(lost, "dial", "connected", 1, operation=None)]
    found = attempts_of(rows, cases, DisplayNames.for_cases(cases))
    assert found is not None
    assert [one.operation for one in found.rows] == ["probe"], "it failed"
    assert found.plain == 0, "between calls nothing came through"


def test_a_case_that_only_all_of_its_runs_fail_is_replayed_as_a_whole() -> None:
    ok = [run(repeat, scenario="luck", verdict="pass", reasons=[]) for repeat in (1, 2)]
    shared = group_row(**{name: ok[0][name] for name in KEY}, verdict="fail", outcome="failed")
    (case,) = cases_of(ok, [shared]).values()
    assert case.replay == f"faultlab replay {ok[0]['run_id']} --group"
    (alone,) = cases_of([{**ok[0], "verdict": "fail"}, ok[1]], [shared]).values()
    assert alone.replay == f"faultlab replay {ok[0]['run_id']}"
