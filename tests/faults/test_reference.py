"""Protects docs/FAULTS.md: it says what the code does, for every fault and every parameter."""

from inspect import cleandoc
from pathlib import Path

from harness.faults import FAULTS
from harness.language.fault_reference import reference

PAGE = Path(__file__).parents[2] / "docs" / "FAULTS.md"


def test_the_page_is_the_code() -> None:
    assert PAGE.read_text() == reference(), "run: python -m harness.language.fault_reference > docs/FAULTS.md"


def test_every_summary_is_one_line() -> None:
    """`faultlab explain` and the JSON Schema show the first line alone."""
    for model in FAULTS.values():
        summary, _, _ = cleandoc(model.__doc__ or "").partition("\n\n")
        assert len(summary.splitlines()) == 1, model


def test_every_parameter_is_explained() -> None:
    for model in FAULTS.values():
        assert all(info.description for info in model.model_fields.values()), model
