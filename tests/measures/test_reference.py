"""Protects docs/EXPECTATIONS.md: every measure stands there, in its own words, and nothing else does."""

from pathlib import Path

from harness.formulas.kernel_timers import KERNEL_FUNCTIONS
from harness.measures import MEASURES

PAGE = (Path(__file__).parents[2] / "docs" / "EXPECTATIONS.md").read_text(encoding="utf-8")


def test_the_table_of_measures_is_that_of_the_code() -> None:
    rows = [
        f"| `{name}{'(<setting>)' if measure.argument else ''}` | {measure.unit} | {measure.of} | {measure.about} |"
        for name, measure in sorted(MEASURES.items())
    ]
    table = PAGE.split("| measure | unit | of | meaning |\n| --- | --- | --- | --- |\n")[1].split("\n\n")[0]
    assert table.split("\n") == rows


def test_every_function_of_the_kernel_is_explained() -> None:
    for name in KERNEL_FUNCTIONS:
        assert f"| `{name}(t)` |" in PAGE
