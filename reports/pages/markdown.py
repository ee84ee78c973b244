"""The timeout table as Markdown: for a pull request, a wiki, a terminal."""

import html
import re
from pathlib import Path

from reports import figures
from reports.pages.times import TimeRow
from reports.pages.verdicts import WORDS
from reports.pages.view import Page

HEAD = ("case", "measure", "predicted", "measured", "spread", "runs", "verdict")


def markdown_of(page: Page) -> str:
    parts = [f"# {text(page.headline)}", text(page.lead), text(page.facts)]
    for scenario in page.scenarios:
        parts.append(f"## {text(scenario.name)} ({text(scenario.client)}, {text(scenario.environment)})")
        parts.append(text(scenario.about))
        parts.append("\n".join([line(HEAD), line(["---"] * len(HEAD)), *(line(cells(row)) for row in scenario.rows)]))
    if page.claims:
        head = ("claim", "about", "says", "measured", "verdict", "source")
        rows = [
            (
                code(claim.formula),
                row["case"],
                figures.predicted(row),
                figures.measured(row),
                claim.verdict,
                claim.source,
            )
            for claim in page.claims
            for row, _, _ in claim.rows
        ]
        parts += ["## Claims", "\n".join([line(head), line(["---"] * len(head)), *(line(row) for row in rows)])]
    return "\n\n".join(part for part in parts if part) + "\n"


def cells(row: TimeRow) -> list[str]:
    tolerance = figures.tolerance(row.row)
    return [
        ", ".join(f"{name}={value}" for name, value in row.case) or "all",
        f"{row.alias}: {row.what}",
        f"{figures.predicted(row.row)} {tolerance}".strip(),
        figures.measured(row.row),
        figures.spread(row.row),
        str(row.row["n"]),
        WORDS[row.verdict],
    ]


def line(values: list[str] | tuple[str, ...]) -> str:
    return "| " + " | ".join(value if value.startswith("`") else text(value) for value in values) + " |"


def text(value: str) -> str:
    """Text from records stays text: no HTML, no column of its own, no emphasis."""
    flat = " ".join(html.escape(value, quote=False).split())
    return re.sub(r"([|`*\[\]\\]|(?<!\w)_|_(?!\w))", r"\\\1", flat)


def code(value: str) -> str:
    """A formula: stars must stay stars."""
    return "`" + " ".join(value.split()).replace("`", "'").replace("|", "\\|") + "`"


def write_markdown(page: Page, file: Path) -> Path:
    """Whole or not at all. Raises OSError."""
    unfinished = file.with_name(f".{file.name}.new")
    unfinished.write_text(markdown_of(page), encoding="utf-8")
    return unfinished.replace(file)
