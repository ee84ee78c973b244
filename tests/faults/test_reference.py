"""Protects docs/FAULTS.md: it says what the code does, for every fault and every parameter."""

from inspect import cleandoc
from pathlib import Path

import pytest

from harness.faults import FAULTS
from harness.language.fault_reference import ACHIEVED, reference

PAGE = Path(__file__).parents[2] / "docs" / "FAULTS.md"


def test_the_page_is_the_code() -> None:
    assert PAGE.read_text() == reference(), "run: python -m harness.language.fault_reference > docs/FAULTS.md"


@pytest.mark.parametrize("fault", ["latency", "bandwidth", "loss", "duplicate", "reorder"])
def test_what_faults_of_links_achieve_has_been_measured(fault: str) -> None:
    rows = [line for line in ACHIEVED.read_text().splitlines() if line.startswith(f"| `{fault}`")]
    assert rows, "run: python bench/links.py --requests 200 --write"
    assert all(any(part.isdigit() for part in row) for row in rows)


def test_every_summary_is_one_line() -> None:
    """`faultlab explain` and the JSON Schema show the first line alone."""
    for model in FAULTS.values():
        summary, _, _ = cleandoc(model.__doc__ or "").partition("\n\n")
        assert len(summary.splitlines()) == 1, model


def test_every_parameter_is_explained() -> None:
    for model in FAULTS.values():
        assert all(info.description for info in model.model_fields.values()), model
