"""Protects the page's words: the sentence at the top, figures, the rule that chooses a time line, Markdown."""

from pathlib import Path

import pytest

from bench.inputs.synthetic_suite import SyntheticBlackhole
from harness.records.manifest import Manifest
from reports import figures
from reports.pages.attention import tally
from reports.pages.cases import Case, deduplicate_reasons
from reports.pages.markdown import code, fit_blocks, line, text
from reports.pages.page import breakable
from reports.pages.summary import commands, facts, headline, lasted_s
from reports.pages.timeline_runs import ANY, FAILED, MAX_FAILED, REPRESENTATIVE, choose_runs
from reports.pages.times import parameters_of
from reports.result import ReportResult


def case(cell: SyntheticBlackhole, *, verdict: str = "pass", repeats: int = 3, **changes: object) -> Case:
    rows = []
    for repeat in range(1, repeats + 1):
        record = cell.run(repeat)[0].model_dump()
        record.update(case=str(cell), suite=0, verdict=verdict, **changes)
        if verdict == "fail":
            record["expectations"][0]["outcome"] = "failed"
        rows.append(record)
    return Case(tuple(rows))


@pytest.mark.parametrize(
    ("verdicts", "sentence"),
    [
        (["pass"], "The one case passed."),
        (["inconclusive"], "The one case is inconclusive."),
        (["lab_error"], "The one case ended in a lab error."),
        (["pass"] * 3, "All 3 cases passed."),
        (["pass", "fail", "inconclusive"], "1 of 3 cases failed; 1 inconclusive."),
        (["pass", "inconclusive"], "1 of 2 cases passed; 1 inconclusive."),
        (["inconclusive"] * 2, "0 of 2 cases passed; 2 inconclusive."),
        (["lab_error", "fail"], "1 of 2 cases failed; 1 lab error."),
    ],
)
def test_the_sentence_at_the_top(verdicts: list[str], sentence: str) -> None:
    assert headline([case(SyntheticBlackhole(), verdict=verdict, repeats=1) for verdict in verdicts]) == sentence


def test_the_gravest_run_speaks_for_its_case() -> None:
    mixed = Case(
        (
            *case(SyntheticBlackhole(), repeats=2).runs,
            *case(SyntheticBlackhole(), verdict="inconclusive", repeats=1).runs,
        )
    )
    assert (mixed.verdict, tally([mixed])) == ("inconclusive", "1 of 3 runs")
    assert tally([mixed, mixed]) == "2 of 6 runs, 2 cases"


def test_the_top_line_says_what_made_the_results() -> None:
    runs = [
        {**case(SyntheticBlackhole()).first, "started_at": f"2026-03-02T14:02:{second:02}+00:00", "duration_s": 5.0}
        for second in (0, 42)
    ]
    manifest = Manifest(
        suite="s", faultlab="1.2.3", environment="local", seed=7, arguments=("a b.yaml",), folder="/", run_ids=(),
        started_at="2026-03-02T14:02:00+00:00", machine="a machine", commit="0123456789ab",
    )  # fmt: skip
    told = facts(runs, [manifest])
    wanted = ("faultlab 1.2.3", "took 47 s", "seed 7", "a machine", "commit 0123456789ab", "2 runs")
    assert [one for one in wanted if one not in told] == []
    assert "commit" not in facts(runs, [manifest.model_copy(update={"commit": ""})])
    assert commands([manifest, manifest]) == ("faultlab run 'a b.yaml'",)
    assert lasted_s([{**runs[0], "started_at": "yesterday"}]) is None


def test_reasons_that_differ_in_figures_are_told_once() -> None:
    runs = case(SyntheticBlackhole(), verdict="fail").runs
    for number, run in enumerate(runs):
        run["reasons"] = (f"was {number}.5 s, not 8.850 s", "also slow")
    assert deduplicate_reasons(Case(runs).reasons) == ("was 0.5 s, not 8.850 s", "also slow")
    assert deduplicate_reasons(["see logs/aba2197112f5/x", "see logs/0df9032a9c12/x"]) == ("see logs/aba2197112f5/x",)


def test_the_time_line_is_that_of_the_median_run_of_the_shortest_telling_case() -> None:
    cases = [
        case(SyntheticBlackhole(brokers=3)),
        case(SyntheticBlackhole(retries=0)),
        case(SyntheticBlackhole(), repeats=5),
    ]
    [choice] = choose_runs(cases)
    assert choice.why == REPRESENTATIVE
    assert choice.run["brokers"] == 1
    times = sorted(run["expectations"][0]["measured"] for run in cases[2].runs)
    assert choice.judged["measured"] == times[2]


def test_a_failed_case_is_shown_first() -> None:
    failed = case(SyntheticBlackhole(brokers=3), verdict="fail")
    assert [choice.why for choice in choose_runs([case(SyntheticBlackhole()), failed])] == [
        FAILED.format(most=MAX_FAILED),
        REPRESENTATIVE,
    ]


def test_without_a_blackhole_the_rule_says_so() -> None:
    other = case(SyntheticBlackhole())
    for run in other.runs:
        run["faults"][0]["fault"] = "refuse"
    assert [choice.why for choice in choose_runs([other])] == [ANY]
    assert choose_runs([case(SyntheticBlackhole(), verdict="inconclusive")]) == ()


def test_figures() -> None:
    row = {
        "predicted": 8.85,
        "low": 8.71,
        "high": 8.99,
        "unit": "s",
        "kind": "equals",
        "median": 8.8564,
        "median_is_bound": True,
    }
    assert figures.predicted(row) == "8.850 s"
    assert figures.tolerance(row) == "\u00b1 0.140"
    assert figures.tolerance({**row, "low": row["predicted"] - 0.07}) == "\u2212 0.070 + 0.140"
    assert figures.measured(row) == "\u2265 8.856 s"
    assert figures.predicted({**row, "kind": "at_most"}) == "\u2264 8.850 s"
    assert figures.difference(-0.0061, "s") == "\u22120.006 s"
    assert figures.difference(0, "count") == "0"
    assert [figures.difference(one, "s") for one in (-0.0001, 0.0004)] == ["0.000 s"] * 2, "nothing has no sign"
    assert figures.difference(-0.016, "share") == "\u22121.6 points"
    assert figures.amount(-0.0001, "s") == "0.000 s"
    assert [figures.short(one) for one in (0.0, 0.0001, 0.004, 0.3, 126.85)] == [
        "0 ms", "< 1 ms", "4 ms", "0.30 s", "126.85 s",
    ]  # fmt: skip
    assert figures.short(60.0, at_least=True) == "\u2265 60.00 s"
    assert figures.many(1, "run") == "1 run"
    assert figures.day("2026-03-02T14:02:00+00:00") == "2 March 2026, 14:02 UTC"
    assert figures.day("yesterday") == "yesterday"


def test_a_spread_says_where_a_run_did_not_end() -> None:
    pairs = [{"time": 8.0, "unended": False}, {"time": 60.0, "unended": True}]
    assert (
        figures.spread({"min": 8.0, "max": 60.0, "unit": "s", "censored": 1, "pairs": pairs})
        == "8.000 to \u2265 60.000"
    )


def test_a_comma_inside_a_parameter_is_no_end() -> None:
    found = parameters_of("Producer.Retry.Max=1, bootstrap=[1, 2, 3], retry.backoff.ms=100 ms")
    assert found == (("Producer.Retry.Max", "1"), ("bootstrap", "[1, 2, 3]"), ("retry.backoff.ms", "100 ms"))


def test_markdown_text_stays_text() -> None:
    assert text("a|b <i>c</i> *d*\n[e](f)") == r"a\|b &lt;i&gt;c&lt;/i&gt; \*d\* \[e\](f)"


@pytest.mark.spark
def test_the_markdown_table_has_every_row_and_no_html(built: ReportResult, hard_folder: Path) -> None:
    lines = built.markdown.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "# 1 of 13 cases failed; 1 lab error; 1 inconclusive."
    full = lines[lines.index(next(line for line in lines if line.startswith("## sarama-upgrade-bound"))) :]
    rows = [line for line in full if line.startswith("| ") and "time_to_error" in line]
    assert len(rows) == 14, "one for each expectation, those of one measure too"
    [soon] = [row for row in rows if "soon: probe.time_to_error" in row]
    assert "| soon: probe.time_to_error | `at_most: 3s` | \u2264 3.000 s | " in soon
    assert soon.endswith("| fail | scenarios/sarama/blackhole-established.scenario.yaml:31 |")
    assert any("| \u2265 60.000 s |" in row for row in rows)
    assert not [line for line in lines if "<script" in line.replace("`<script", "")]
    widths = {line.replace("\\|", "").count("|") for line in rows}
    assert widths == {11}


def test_markdown_that_is_too_long_says_what_it_leaves_out() -> None:
    blocks = ["# first", *(f"## table {number}\n| a |\n| --- |\n| {'x' * 90} |" for number in range(40))]
    cut = fit_blocks(blocks, 2048)
    assert len(cut.encode()) <= 2048
    assert cut.startswith("# first\n\n## table 0\n")
    left_out = 40 - cut.count("## table")
    assert f"Cut at 2 KiB: {left_out} tables" in cut
    assert fit_blocks(blocks, 10**6).count("## table") == 40


def test_a_name_that_begins_like_code_is_still_text() -> None:
    assert line(["`<b>x</b>`", code("a*b")]) == r"| \`&lt;b&gt;x&lt;/b&gt;\` | `a*b` |"


def test_a_long_name_breaks_between_its_words_and_stays_text() -> None:

    assert breakable("slow_answer") == "slow_<wbr>answer"
    assert breakable("Net.<b>.O'x") == "Net.<wbr>&lt;b&gt;.<wbr>O&#39;x"
    assert breakable("") == ""
