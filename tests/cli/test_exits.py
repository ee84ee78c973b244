"""Protects what scripts rely on: which exit code a suite of mixed verdicts ends with."""

import pytest

from cli.exit_codes import ExitCode, exit_code_of


@pytest.mark.parametrize(
    ("verdicts", "code"),
    [
        (["pass"], 0),
        (["pass", "fail"], 1),
        (["pass", "inconclusive"], 2),
        (["pass", "lab_error"], 3),
        ([], 5),
        (["inconclusive", "lab_error", "fail", "pass"], 1),
        (["inconclusive", "lab_error", "pass"], 3),
        (["skipped"], 2),
        (["pass", "skipped"], 2),
    ],
)
def test_the_gravest_verdict_decides(verdicts: list[str], code: int) -> None:
    assert exit_code_of(verdicts) == code  # type: ignore[arg-type]


def test_codes_are_those_of_the_documentation() -> None:
    assert (ExitCode.USAGE, ExitCode.NOTHING_SELECTED, ExitCode.INTERRUPTED) == (4, 5, 130)
