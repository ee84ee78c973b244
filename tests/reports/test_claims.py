"""Protects what the page and the Markdown say of claims: of which cases, how many, and which one stands for them."""

from typing import Any

from rich_rows import heat, run, waited

from reports.pages import markdown, summary
from reports.pages.cases import KEY, DisplayNames, cases_of
from reports.pages.claims import claims_of

Row = dict[str, Any]


def claimed(of: Row, outcome: str, number: int, **changes: Any) -> Row:
    """A row of the claims table."""
    return {
        **{name: of[name] for name in KEY}, "measure": "probe.time_to_error", "unit": "s", "formula": "2*A.Read",
        "name": "a1", "source": "somebody", "when": None, "line": 3, "n": 1, "predicted": 4.0, "low": 3.9, "high": 4.1,
        "declared_holds": None, "as_declared": None, "verdict": outcome, "case": f"n={number}", "median": 4.0 + number,
        "median_is_bound": False, "pairs": [{"time": 4.0 + number, "unended": False}], "words": [], **changes,
    }  # fmt: skip


def test_a_claim_that_holds_in_some_cases_says_in_how_many() -> None:
    one = run()
    names = DisplayNames.for_cases(cases_of([one]))
    rows = [claimed(one, "held", 0), claimed(one, "refuted", 1), claimed(one, "held", 2)]
    [mixed] = claims_of(rows, (), names)
    assert (mixed.verdict, mixed.tally, mixed.telling.outcome) == (
        "mixed",
        "refuted in 1, held in 2 of 3 cases",
        "refuted",
    )
    assert summary.claimed([mixed]) == "1 published formula: 1 holds in some cases only."
    [unsettled] = claims_of([claimed(one, "inconclusive", 0, pairs=[], median=None)], (), names)
    assert unsettled.tally == "inconclusive in 1 of 1 case"
    [torn] = claims_of([claimed(one, "mixed", 0), claimed(one, "held", 1)], (), names)
    assert torn.tally == "held in 1, mixed in 1 of 2 cases"
    assert "2 claims: 2 hold in some cases only." in summary.lead(heat([one], []), [mixed, torn], "")
    assert summary.claimed([mixed, unsettled]).endswith("1 holds in some cases only, 1 could not be judged.")


def test_a_pull_request_reads_which_case_a_claim_speaks_of_and_where_no_error_came() -> None:
    one = run()
    [claim] = claims_of(
        [claimed(one, "refuted", number, median=5.0) for number in (1, 2)], (), DisplayNames.for_cases({})
    )
    first, second = markdown.claims_of([claim]).splitlines()[2:]
    assert first.replace("n=1", "n=2") == second != first
    [(_, [cell])] = heat([one], [waited(one, 0.11, what="time_to_ack")]).rows
    assert markdown.cell_text(cell) == "0.11 s (no error) pass"


def test_a_claim_is_one_whatever_its_expectations_are_called() -> None:
    one = run()
    rows = [
        claimed(one, "refuted", 0, declared_holds=False, as_declared=True),
        claimed(one, "held", 1, name="right-by-accident", declared_holds=True, as_declared=True),
        claimed(one, "held", 1, source="somebody else"),
    ]
    found = claims_of(rows, (), DisplayNames.for_cases(cases_of([one])))
    assert {claim.names for claim in found} == {("a1",), ("a1", "right-by-accident")}
    assert "2 claims: 1 held, 1 holds in some cases only." in summary.lead(heat([one], []), found, "")


def test_a_claim_counts_cases_that_the_page_has_no_room_for() -> None:
    one = run()
    names = DisplayNames.for_cases(cases_of([one]))
    rows = [claimed(one, "refuted", number) for number in range(60)]
    rows[50].update(verdict="held", declared_holds=False, as_declared=False)
    [claim] = claims_of(rows, (), names)
    assert len(claim.cases) < 50
    assert claim.tally == "refuted in 59, held in 1 of 60 cases"
    assert claim.telling.outcome == "held", "the one that is not as declared is what to look at"


def test_a_claim_about_an_outcome_says_the_word_it_claims_and_those_that_were_measured() -> None:
    one = run()
    about_words = {"measure": "probe.outcome", "unit": "text", "formula": "failed", "predicted": None, "median": None}
    row = claimed(one, "refuted", 0, **about_words, low=None, high=None, pairs=[], words=["censored", "ok"])
    [claim] = claims_of([row], (), DisplayNames.for_cases(cases_of([one])))
    assert (claim.telling.says, claim.telling.found, claim.telling.off) == ("failed", "censored, ok", "")
