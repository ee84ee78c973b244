"""Protects that "claim", "held" and "refuted" mean the same on the terminal and on the page."""

import pytest

from harness.records.claims import all_as_declared, as_declared, combined_outcome, measure_label


@pytest.mark.parametrize(
    ("outcomes", "together"),
    [
        (("held", "held"), "held"),
        (("refuted", "inconclusive"), "refuted"),
        (("held", "refuted"), "mixed"),
        (("mixed", "held"), "mixed"),
        (("inconclusive",), "inconclusive"),
        ((), "inconclusive"),
    ],
)
def test_a_claim_is_what_all_that_settled_it_agree_upon(outcomes: tuple[str, ...], together: str) -> None:
    assert combined_outcome(outcomes) == together


@pytest.mark.parametrize(
    ("outcome", "declared", "told"),
    [
        ("held", True, True),
        ("refuted", False, True),
        ("refuted", True, False),
        ("mixed", True, False),
        ("mixed", False, False),
        ("inconclusive", True, None),
        ("held", None, None),
    ],
)
def test_it_turns_out_as_declared_or_not(outcome: str, declared: bool | None, told: bool | None) -> None:
    assert as_declared(outcome, declared) is told


def test_over_many_cases_those_that_declare_nothing_do_not_count() -> None:
    assert all_as_declared([None, True]) is True
    assert all_as_declared([True, False, None]) is False
    assert all_as_declared([None, None]) is None


def test_a_step_s_name_is_no_part_of_a_claim() -> None:
    assert measure_label("probe.time_to_error") == measure_label("second.time_to_error") == "time to error"
