"""Protects what the page's sections say: the heat map, agreement, recovery, statistics over repeats, single runs."""

from typing import Any

import pytest
from rich_rows import EXPLAINED, agreement_row, group_row, heat, outcome_row, recovery_rows, run, spent, waited

from reports.charts.badges import badges
from reports.charts.compare import ComparisonChart, SideMarks, axis_reach
from reports.charts.curve import Curves, axis_end_s, curve_of
from reports.charts.heat import STEPS_S, legend, shade_of
from reports.charts.histogram import histogram_of
from reports.charts.interval import interval_chart
from reports.charts.svg import label, picture
from reports.pages import summary
from reports.pages.agreement import agreements_of
from reports.pages.cases import DEAD_ADDRESSES, KEY, Case, DisplayNames, cases_of, fault_of
from reports.pages.groups import groups_of
from reports.pages.recovery import axis_length_s, recovery_of
from reports.pages.runs import noise_of, worst_expectation
from reports.pages.truncate import truncate
from reports.pages.waits import waits_of

Row = dict[str, Any]


def test_a_cell_has_the_longest_wait_and_the_gravest_verdict_of_its_cases() -> None:
    good, bad = run(scenario="a"), run(scenario="b", verdict="fail")
    [(client, [cell])] = heat([good, bad], [waited(good, 45.0), waited(bad, 2.0)]).rows
    assert client == "sarama 1.27.2"
    assert (cell.number, cell.shade, cell.verdict, cell.cases) == ("45.00 s", len(STEPS_S), "fail", "1 of 2 cases")


def test_an_error_says_more_than_a_longer_answer_and_without_one_the_answer_stands() -> None:
    one, other = run(scenario="a"), run(scenario="b", faults=[])
    found = heat(
        [one, other], [waited(one, 2.0), waited(one, 9.0, what="time_to_ack"), waited(other, 0.2, what="time_to_end")]
    )
    told = {cell.fault: (cell.number, cell.ending) for _, cells in found.rows for cell in cells}
    assert told == {"blackhole": ("2.00 s", ""), "no fault": ("0.20 s", "no error")}
    assert found.finding == "Callers hang longest under blackhole: 2.00 s in its slowest case."


def test_what_was_not_run_says_why() -> None:
    here = run()
    there = run(client_version="1.9.0", faults=[{**here["faults"][0], "fault": "refuse"}], verdict="skipped",
                reasons=["1.9.0 has no such setting"])  # fmt: skip
    found = heat([here, there], [waited(here, 2.0)])
    assert [client for client, _ in found.rows] == ["sarama 1.9.0", "sarama 1.27.2"]
    reasons = [[cell.reason for cell in cells] for _, cells in found.rows]
    assert reasons == [["no scenario here does it", "1.9.0 has no such setting"], ["", "no scenario here does it"]]


def test_a_wait_that_did_not_end_is_at_least_so_long() -> None:
    one = run()
    found = heat([one], [waited(one, 60.0, unended=True)])
    assert found.rows[0][1][0].number == "\u2265 60.00 s"
    assert found.finding == "Callers hang longest under blackhole: \u2265 60.00 s in its slowest case."
    assert found.longest is not None
    assert (found.longest.long, found.longest.causes) == ("\u2265 60.000 s", ())


def test_the_longest_wait_is_that_of_a_single_run_whatever_the_median_says() -> None:
    one, other = run(scenario="a"), run(scenario="b")
    pairs = [{"time": 5.0, "unended": False}] * 3 + [{"time": 60.0, "unended": True}] * 2
    found = heat([one, other], [{**waited(one, 5.0), "max": 60.0, "pairs": pairs}, waited(other, 9.0)])
    assert found.longest is not None
    assert (found.longest.long, found.longest.causes) == ("\u2265 60.000 s", ())
    assert found.finding == "Callers hang longest under blackhole: 9.00 s in its slowest case."


def test_where_nothing_was_tested_nothing_is_said_of_errors() -> None:
    one = run(verdict="inconclusive")
    untold = heat([one], [{**waited(one, 5.0), "median": None, "max": None, "pairs": []}])
    assert (untold.longest, untold.finding) == (None, "No run here shows how long callers hang.")
    assert summary.lead(untold, [], "") == ""
    answered = heat([run()], [waited(run(), 5.0, what="time_to_ack")])
    assert (answered.longest, answered.no_error) == (None, "No call came back with an error.")


def test_the_longest_hang_names_the_settings_that_took_it() -> None:
    one = run()
    values = {setting["name"]: setting["seconds"] for setting in one["settings"]}
    dial, read = spent(one, "Net.DialTimeout", 14, 7.0), spent(one, "Net.ReadTimeout", 2, 4.0)
    found = heat([one], [waited(one, 11.85)], [read, dial])
    assert found.longest is not None
    [cause] = found.longest.causes
    assert (cause.setting, cause.count, cause.each_s) == ("Net.DialTimeout", 14, values["Net.DialTimeout"])
    assert cause.words.startswith("14 \u00d7 Net.DialTimeout (")
    assert found.rows[0][1][0].cause == cause.words, "its cell says so, too"
    both = heat([one], [waited(one, 18.0)], [read, dial]).longest
    assert both is not None
    assert [one.setting for one in both.causes] == ["Net.DialTimeout", "Net.ReadTimeout"], "one alone is not half of it"
    untold = heat([one], [waited(one, 60.0)], [read, dial]).longest
    assert untold is not None
    assert untold.causes == (), "what most of the time went to is not known"


def test_releases_are_compared_over_the_cases_that_all_of_them_ran() -> None:
    """One release ran its defaults too, where it hangs for two minutes: that says nothing against the other."""
    old, new = run(scenario="both", client_version="1.27.2"), run(scenario="both", client_version="1.60.1")
    defaults = run(scenario="defaults", client_version="1.27.2")
    found = heat([old, new, defaults], [waited(old, 8.85), waited(new, 13.6), waited(defaults, 126.85)])
    told = {client: cells[0] for client, cells in found.rows}
    assert [told[name].number for name in ("sarama 1.27.2", "sarama 1.60.1")] == ["8.85 s", "13.60 s"]
    assert told["sarama 1.27.2"].beyond == "126.85 s"
    assert not found.some_apart
    apart = heat([defaults, new], [waited(new, 13.6), waited(defaults, 126.85)])
    assert [cells[0].apart for _, cells in apart.rows] == [True, True], "they share no case"
    other = heat([old, run(scenario="x", client="kafka-go")], [waited(old, 8.85)])
    assert not other.some_apart, "another client is no release of this one"
    versions = [run(case=f"version={one}, Retry.Max=1", client_version=one) for one in ("1.27.2", "1.60.1")]
    matrix = heat(versions, [waited(one, 2.0) for one in versions])
    assert not matrix.some_apart, "the release itself is no difference between cases"


def test_shades_are_of_one_scale_whatever_is_on_the_page() -> None:
    assert [shade_of(seconds) for seconds in (0.0, 0.1, 0.1001, 1.0, 29.0, 30.0, 1e4)] == [0, 0, 1, 2, 5, 5, 6]
    assert len(legend()) == len(STEPS_S) + 1


def test_clients_say_how_they_ran_where_that_is_not_plain() -> None:
    profile, real = run(), run(driver="real")
    assert DisplayNames.for_cases(cases_of([profile])).of(profile) == "sarama 1.27.2"
    names = DisplayNames.for_cases(cases_of([profile, real]))
    assert (names.of(profile), names.of(real)) == ("sarama 1.27.2 (profile)", "sarama 1.27.2 (real)")
    places = DisplayNames.for_cases(cases_of([profile, run(environment="sim")]))
    assert places.of(profile) == "sarama 1.27.2, local"


def test_what_was_wrong_in_a_run_has_a_name() -> None:
    fault = run()["faults"][0]
    assert fault_of(run(faults=[fault, {**fault, "fault": "kill"}, fault])) == "blackhole + kill"
    assert fault_of(run(faults=[], bootstrap=[1, 101])) == DEAD_ADDRESSES
    assert fault_of(run(faults=[])) == "no fault"
    assert Case((run(faults=[]), run())).fault == "blackhole"
    bad = run(verdict="fail")
    names = DisplayNames.for_cases(cases_of([run(), bad]))
    assert (names.fault(bad), names.verdict(bad)) == ("blackhole", "fail")
    assert names.verdict(run(scenario="other")) == "skipped"


def test_waits_stand_above_their_formula_and_what_it_lacks_comes_last() -> None:
    one = run()
    names = DisplayNames.for_cases(cases_of([one]))
    terms = [{"text": "2*A.Read", "setting": "A.Read", "count": 2.0, "each": 2.0, "total": 4.0}]
    case = {name: one[name] for name in KEY}
    waits = [
        {**case, "operation": "probe", "setting": setting, "runs": 3, "count": 1.0, "elapsed": 1.0, "total_s": seconds}
        for setting, seconds in (("A.Admin", 4.0), ("A.Read", 4.0))
    ]
    timeouts = [{**case, "measure": "probe.time_to_error", "unit": "s", "kind": "equals", "terms": terms}]
    marks = badges(["A.Admin", "A.Read", "A.Never"])
    found = waits_of(waits, timeouts, names, marks)
    assert found is not None
    assert [badge.setting for badge in found.legend] == ["A.Admin", "A.Read"]
    [told] = found.cases
    assert [(block.left, block.width, block.outside) for block in told.measured] == [(0, 50, False), (50, 50, True)]
    assert [(block.left, block.width) for block in told.formula] == [(0, 50)]
    assert (told.measured_s, told.formula_s, told.verdict) == (8.0, 4.0, "pass")
    assert waits_of(waits, [], names, marks) is None
    share = {**timeouts[0], "measure": "probe.waited(A.Admin)", "terms": [{**terms[0], "setting": "A.Admin"}]}
    both = waits_of(waits, [timeouts[0], share], names, marks)
    assert both is not None
    assert both.cases == found.cases, "what is expected of one setting alone is not the formula of all"
    limited = waits_of(waits, [{**timeouts[0], "kind": "at_most"}], names, marks)
    assert limited is not None
    [alone] = limited.cases
    assert (alone.by_formula, alone.formula_s, alone.measured_s) == (False, 0.0, 8.0), "a limit is no formula"


def test_disagreements_come_first_and_too_few_runs_are_no_agreement() -> None:
    rows = [agreement_row(outcome) for outcome in ("agrees", "explained", "unsure", "differs", "agrees")]
    found = agreements_of(rows)
    assert found is not None
    assert [(outcome, len(own)) for outcome, _, own in found.groups] == [
        ("differs", 1), ("explained", 1), ("agrees", 2),
    ]  # fmt: skip
    assert found.finding == (
        "2 of 5 measures agree; 1 differs; 1 differs for a reason that sources show; 1 has too few runs."
    )
    told = {outcome: (words, next(iter(own))) for outcome, words, own in found.groups}
    assert told["differs"][1].standing == "fail"
    assert [side.name for side in told["differs"][1].sides] == ["real client", "profile", "simulation"]
    assert found.too_few.startswith("1 measure ")
    assert found.command == "faultlab agree a.scenario.yaml --repeat 23 --most 120 --report"
    assert told["explained"][1].sides[1].source == EXPLAINED
    assert agreements_of([]) is None


def test_sides_are_drawn_relative_to_the_prediction_on_one_axis() -> None:
    rows = [agreement_row() for _ in range(20)] + [agreement_row("differs", profile=(13.2, 13.3, 13.4))]
    found = agreements_of(rows)
    assert found is not None
    far = next(iter(found.groups[0][2])).picture
    assert far.reach == found.reach == 1.0
    assert [round(one.middle, 2) for one in far.sides] == [0.07, 50.28, 0.0]
    assert "+50 % \u25b6" in far.svg
    assert 'class="mark real"' in far.svg
    assert 'class="mark profile"' not in far.svg


def test_ways_that_chance_chooses_are_compared_by_how_often_they_are_gone() -> None:
    row = agreement_row()
    of_record = set(row["compared"][0])
    row["compared"][0].update(ways=3, share_difference=0.08, share_bound=0.25)
    assert set(row["compared"][0]) == of_record
    found = agreements_of([row])
    assert found is not None
    note = next(iter(found.groups[0][2])).sides[1].note
    assert note == "3 ways; how often runs went each differs by 8.0 % (may be 25.0 %)"


def test_a_time_of_next_to_nothing_is_not_drawn_in_per_cent_of_itself() -> None:
    found = agreements_of([agreement_row(predicted=0.001)])
    assert found is not None
    assert next(iter(found.groups[0][2])).picture is None


def test_without_a_prediction_the_real_client_is_the_middle() -> None:
    found = agreements_of([agreement_row(predicted=None)])
    assert found is not None
    row = next(iter(found.groups[0][2]))
    assert row.picture.sides[0].middle == 0.0
    assert row.bound == "agrees within \u00b10.090 s"
    assert row.sides[1].against == "+0.001 s (\u22120.009 to +0.011)"


def test_errors_are_compared_as_words() -> None:
    found = agreements_of([outcome_row("differs", "<b>EOF</b>", "i/o timeout")])
    assert found is not None
    row = next(iter(found.groups[0][2]))
    assert [side.found for side in row.sides] == ["<b>EOF</b> (3)", "i/o timeout (3)", "i/o timeout (3)"]
    assert row.picture is None


def test_the_axis_fits_nine_of_ten() -> None:
    assert axis_reach([]) == 1.0
    assert axis_reach([0.1] * 19 + [80.0]) == 1.0
    assert axis_reach([0.1, -3.0, 4.0]) == 5.0
    drawn = ComparisonChart((SideMarks("sim", (-2.0, 2.0), 0.0),), None, 5.0, "words")
    assert (drawn.at(0), drawn.at(5), drawn.at(-99)) == (50.0, 97.0, 3.0)


def test_a_curve_knows_of_runs_that_were_given_up_on() -> None:
    """Two recover at 1 s; one is given up on at 2 s; the last recovers at 3 s: half of it was at risk then."""
    curve = curve_of([(1.0, False), (1.0, False), (2.0, True), (3.0, False)])
    assert curve.steps == ((1.0, 0.5), (3.0, 1.0))
    assert curve.censored_at_s == (2.0,)
    assert (curve.time_of(0.5), curve.time_of(0.9)) == (1.0, 3.0)
    ignored = curve_of([(1.0, False), (2.0, True), (2.0, True), (2.0, True)])
    assert ignored.steps == ((1.0, 0.25),)
    assert ignored.time_of(0.5) is None
    # Freireich's leukaemia remissions, as every book on survival has them.
    textbook = curve_of([(6, False)] * 3 + [(6, True), (7, False), (9, True), (10, False), (10, True), (11, True),
                        (13, False), (16, False), (17, True), (19, True), (20, True), (22, False), (23, False),
                        (25, True), (32, True), (32, True), (34, True), (35, True)])  # fmt: skip
    assert [round(1 - share, 3) for _, share in textbook.steps] == [0.857, 0.807, 0.753, 0.69, 0.627, 0.538, 0.448]


def test_a_curve_is_drawn_in_steps_up_to_the_axis_end() -> None:
    curve = curve_of([(0.1, False), (1.0, False)])
    drawn = Curves((("sarama", curve),), axis_end_s([curve]), "words")
    assert drawn.last_s == 2.0
    assert drawn.at(0.001) == 0.0
    assert "V50" in drawn.svg
    assert [text for _, text in drawn.ticks] == ["0.01 s", "0.1 s", "1 s", "2 s"]
    assert [text for _, text in Curves((), 20.0, "").ticks] == ["0.01 s", "0.1 s", "1 s", "10 s"], "20 would touch 10"
    assert [text for _, text in Curves((), 50.0, "").ticks][-2:] == ["10 s", "50 s"]
    assert drawn.line(curve).endswith("V0H100")


def test_recovery_leaves_out_who_worked_at_once_and_counts_them() -> None:
    names = DisplayNames(frozenset(), places=False, faults={})
    rows = [*recovery_rows([(0.0, False)] * 3), *recovery_rows([(0.4, False), (0.6, False), (5.0, True)], scenario="b")]
    found = recovery_of(rows, names)
    assert found is not None
    assert (found.quick, found.cases, len(found.outages)) == (1, 2, 1)
    assert found.finding == (
        "1 of 2 cases worked as soon as the fault was gone; the slowest needed \u2265 5.00 s more (b); "
        "in 1 case some runs never worked again while the lab looked."
    )
    [panel] = found.panels
    [row] = panel.rows
    assert (row.half, row.mostly, row.every, row.unended) == ("0.600 s", "not seen", "not seen", 1)
    assert recovery_of([], names) is None


def test_one_long_outage_does_not_make_the_others_invisible() -> None:
    assert axis_length_s([1.0, 2.0, 2.5, 200.0]) == 2.5
    assert axis_length_s([]) == 1.0
    names = DisplayNames(frozenset(), places=False, faults={})
    rows = [row for place, dark in enumerate((1.0, 1.0, 1.0, 90.0))
            for row in recovery_rows([(0.5, False)], dark_s=dark, scenario=f"s{place}")]  # fmt: skip
    found = recovery_of(rows, names)
    assert found is not None
    assert [one.beyond for one in found.outages].count(True) == 1
    assert all(one.dark_share + one.felt_share <= 100.01 for one in found.outages)


def test_statistics_tell_how_sure_they_are_and_how_many_runs_it_takes() -> None:
    names = DisplayNames(frozenset(), places=False, faults={})
    held = group_row(statistic="quantile", q=0.95, of="probe.time_to_end", unit="s", verdict="pass", outcome="held",
                 needed=None, kind="at_most", low=None)  # fmt: skip
    rows = [held, group_row(), group_row(kind="claim"), group_row(outcome="skipped")]
    first, second = groups_of(rows, names)
    assert (first.what, first.expected, first.tolerance) == (
        "share of runs with probe.outcome == 'failed'", "16.7 %", "\u2212 8.7 + 8.3 points",
    )  # fmt: skip
    assert (first.interval, first.runs) == ("12.0 % to 31.0 %", "40 runs, needs about 120")
    [told] = groups_of([group_row(reason="40 runs are too few: needs 120 runs")], names)
    assert (told.runs, told.notes) == ("40 runs", ("40 runs are too few: needs 120 runs",)), "they are told once"
    assert first.notes == (first.runs,)
    assert (second.what, second.expected) == ("95 % quantile of probe.time_to_end", "\u2264 0.167 s")


def test_an_estimate_is_drawn_between_its_bounds() -> None:
    drawn = interval_chart(group_row())
    assert drawn is not None
    assert drawn.tick is not None
    assert drawn.span is not None
    assert drawn.estimate is not None
    assert drawn.allowed[0] < drawn.tick < drawn.estimate < drawn.allowed[1] < drawn.span[1] <= 100
    open_ended = interval_chart(group_row(interval_high=None, high=None, kind="at_least"))
    assert open_ended is not None
    assert open_ended.span is not None
    assert (open_ended.span[1], open_ended.allowed[1]) == (100.0, 100.0)
    assert interval_chart(group_row(estimate=None)) is None


def test_the_worst_run_is_the_one_farthest_in_its_own_tolerance() -> None:
    judged = run()["expectations"][0]
    near = {**judged, "measured": judged["predicted"] + 0.01, "low": 8.8, "high": 8.9}
    far = {**judged, "measure": "probe.other", "measured": judged["predicted"] - 0.03, "low": 8.84, "high": 8.86}
    claim = {**judged, "kind": "claim", "measured": 99.0}
    worst = worst_expectation(run(expectations=[near, far, claim]))
    assert worst.used == pytest.approx(3.0, rel=0.01)
    assert worst.words == "probe.other \u22120.030 s"
    well = {**judged, "kind": "at_most", "measured": 0.1, "low": None, "high": judged["predicted"]}
    assert worst_expectation(run(expectations=[well, near])).words.startswith(near["measure"]), (
        "below its bound nothing is off"
    )
    assert worst_expectation(run(expectations=[well])).words == ""
    late = {**well, "measured": 2 * judged["predicted"], "outcome": "failed"}
    assert worst_expectation(run(expectations=[late])).used == pytest.approx(1.0)
    tight = {**far, "measured": judged["predicted"] + 0.05, "outcome": "failed"}
    assert worst_expectation(run(expectations=[tight, far, late])).words.startswith(late["measure"]), (
        "seconds beyond a limit are farther than five tolerances of 10 ms"
    )


def test_what_lies_between_uneven_bounds_is_held_against_the_nearer_one() -> None:
    judged = {**run()["expectations"][0], "predicted": 0.8, "low": 0.7, "high": 1.0}
    assert worst_expectation(run(expectations=[{**judged, "measured": 0.65}])).used == pytest.approx(1.5)
    assert worst_expectation(run(expectations=[{**judged, "measured": 0.9}])).used == pytest.approx(0.5)


def test_noise_is_told_of_real_environments_alone() -> None:
    row = {"environment": "local", "loop_lag_p99_s": 0.0009, "tries": 1}
    assert noise_of([{**row, "environment": "sim"}]) is None
    found = noise_of([row, {**row, "loop_lag_p99_s": 0.012, "tries": 3}, {**row, "environment": "sim"}])
    assert found is not None
    assert found.rows == (("local", "2", "12 ms", "12 ms", "1"),)
    assert "at most 12 ms late; 1 run had to be tried again" in found.finding
    assert found.picture is not None
    assert found.picture.words.count(" from ") == 2
    assert histogram_of([]) is None


def test_what_is_cut_says_so() -> None:
    few, many = truncate("abc", 5, "report/x.parquet"), truncate("abcdefgh", 3, "report/x.parquet")
    assert (few.words, list(few)) == ("", ["a", "b", "c"])
    assert truncate("abcdefgh", 3, "x", worst_first=False).words == "the first 3 of 8; all of them are in x"
    assert many.words == "the 3 worst of 8; all of them are in report/x.parquet"


def test_charts_hold_text_as_text() -> None:
    drawn = picture("strip", '<script>"x"</script>', 30, [], [label("beyond", "<b>")])
    assert "<script>" not in drawn
    assert "<b>" not in drawn
    assert 'aria-label="&lt;script&gt;&#34;x&#34;&lt;/script&gt;"' in drawn
