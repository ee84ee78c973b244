"""The page as Markdown: for a pull request, a wiki, a job's summary. Worst first, and cut to what such places take."""

import html
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from harness.records.atomic import write_atomically
from reports import figures
from reports.pages.agreement import WORDS as AGREEMENT
from reports.pages.agreement import AgreementRow
from reports.pages.attention import AttentionCard
from reports.pages.blame import Blame
from reports.pages.cases import placed
from reports.pages.claims import Claim, ClaimCase
from reports.pages.groups import GroupRow
from reports.pages.heat import HeatCell
from reports.pages.times import Scenario, TimeRow
from reports.pages.verdicts import WORDS
from reports.pages.view import Page

MAX_BYTES = 1024 * 1024
"""What CI systems take for one summary."""
ROOM_FOR_NOTE = 400
HEAD = ("case", "expectation", "bound", "expected", "measured", "off by", "spread", "runs", "verdict", "place")

Block = str
"""Text that is left out whole or not at all."""


def markdown_of(page: Page) -> str:
    return fit_blocks(list(blocks_of(page)), MAX_BYTES)


def fit_blocks(blocks: list[Block], most_bytes: int) -> str:
    """The blocks that fit, and a note that counts the others."""
    shown, size = [], 0
    for block in blocks:
        size += len(block.encode()) + 2
        if size > most_bytes - ROOM_FOR_NOTE:
            break
        shown.append(block)
    left_out = blocks[len(shown) :]
    if left_out:
        rows = sum(block.count("\n| ") for block in left_out)
        shown.append(
            f"_Cut at {most_bytes // 1024} KiB: {figures.many(len(left_out), 'table')} with some {rows:,} rows, the "
            "best of all, are left out. The page `report.html` and the tables in `report/` have them._"
        )
    return "\n\n".join(shown) + "\n"


def blocks_of(page: Page) -> Iterator[Block]:
    yield "\n\n".join(
        part for part in (f"# {text(page.headline)}", *hang_of(page), text(page.lead), text(page.facts)) if part
    )
    for warning in page.warnings:
        yield f"> {text(warning)}"
    if page.attention.total:
        yield "## What needs attention"
        yield from (attention_of(one) for one in page.attention)
    if page.heat.rows:
        yield f"## How long callers hang\n\n{text(page.heat.finding)}\n\n{heat_of(page)}"
    if page.claims:
        yield f"## Claims\n\n{text(page.claims_finding)}\n\n{claims_of(page.claims)}"
    if page.agreement:
        disagreements = [row for outcome, _, rows in page.agreement.groups if outcome != "agrees" for row in rows]
        few = f"{text(page.agreement.too_few)} {code(page.agreement.command)}" if page.agreement.too_few else ""
        found = agreement_of(disagreements) if disagreements else ""
        yield "\n\n".join(part for part in ("## Agreement", text(page.agreement.finding), few, found) if part)
    if page.groups.total:
        yield f"## Over many runs\n\n{text(page.groups_finding)}\n\n{groups_of(page.groups)}"
    for scenario in page.scenarios:
        yield scenario_of(scenario)
    if page.scenarios.words:
        yield f"_Shown: {text(page.scenarios.words)}._"


def hang_of(page: Page) -> list[str]:
    return [text(page.longest.sentence)] if page.longest else []


def attention_of(one: AttentionCard) -> Block:
    parts = [f"### {text(one.scenario)}: {WORDS[one.verdict]}, {one.tally}"]
    parts.append(
        text(", ".join(part for part in (placed(one.client, one.environment), one.fault, one.parameters) if part))
    )
    parts.append("\n".join(f"- {text(reason)}" for reason in one.reasons))
    if one.rows:
        parts.append(table(HEAD, (cells(row) for row in one.rows)))
        if one.rows.words:
            parts.append(f"_{figures.many(one.rows.total - len(one.rows), 'row')} more, none worse than these._")
    if one.blame:
        parts.append(blame_of(one.blame))
    if one.error:
        parts.append(f"The caller got: {text(one.error)}")
    parts += [f"Lateness of the lab: {text('; '.join(one.late))}"] if one.late else []
    parts.append(code(one.replay))
    return "\n\n".join(part for part in parts if part)


def blame_of(blame: Blame) -> Block:
    head = "Where the difference is" if blame.by_formula else "Where the time went"
    parts = "; ".join(f"{code(part.badge.setting)} {text(part.words)}" for part in blame.parts)
    return f"{head}: {parts}." + (f" Lower {code(blame.lower)} to hear of it sooner." if blame.lower else "")


def heat_of(page: Page) -> Block:
    rows = (
        [client, *(cell_text(cell) if cell.verdict else "not run" for cell in cells_)]
        for client, cells_ in page.heat.rows
    )
    return table(["client", *page.heat.faults], rows)


def cell_text(cell: HeatCell) -> str:
    """`18.88 s held`, `0.11 s (no error) held`."""
    ending = f" ({cell.ending})" if cell.ending else ""
    return f"{cell.number}{ending} {WORDS[cell.verdict]}"


def claims_of(claims: Iterable[Claim]) -> Block:
    rows = (
        [code(claim.formula), claim.what, *where(one), one.says, one.found, one.outcome, claim.source]
        for claim in claims
        for one in claim.cases
    )
    return table(("claim", "of", "scenario", "case", "client", "says", "measured", "verdict", "source"), rows)


def where(one: ClaimCase) -> tuple[str, str, str]:
    return one.scenario, case_of(one.case), one.client


def case_of(case: Iterable[tuple[str, str]]) -> str:
    """Its parameters; `all` of a scenario that has only this one."""
    return ", ".join(f"{name}={value}" for name, value in case) or "all"


def agreement_of(compared: Iterable[AgreementRow]) -> Block:
    rows = (
        [
            one.row["scenario"],
            one.row["case"],
            one.client,
            one.what,
            "; ".join(f"{side.name} {side.found}" for side in one.sides),
            AGREEMENT[one.outcome],
        ]
        for one in compared
    )
    return table(("scenario", "case", "client", "measure", "found", "verdict"), rows)


def groups_of(groups: Iterable[GroupRow]) -> Block:
    rows = (
        [
            one.row["scenario"],
            case_of(one.case),
            one.client,
            f"{one.name}: {one.what}" if one.name else one.what,
            code(one.bound),
            f"{one.expected} {one.tolerance}".strip(),
            one.found,
            one.interval,
            one.runs,
            WORDS[one.verdict],
            one.place,
        ]
        for one in groups
    )
    head = (
        "scenario", "case", "client", "statistic", "bound", "expected", "estimate", "surely", "runs", "verdict",
        "place",
    )  # fmt: skip
    return table(head, rows)


def scenario_of(scenario: Scenario) -> Block:
    head = f"## {text(scenario.name)} ({text(scenario.client)})"
    return "\n\n".join([head, text(scenario.about), table(HEAD, (cells(row) for row in scenario.rows))])


def cells(row: TimeRow) -> list[str]:
    tolerance = figures.tolerance(row.row)
    return [
        case_of(row.case),
        f"{row.name}: {row.row['measure']}" if row.name else row.row["measure"],
        code(row.bound),
        f"{figures.predicted(row.row)} {tolerance}".strip(),
        row.measured,
        row.off_text,
        figures.spread(row.row),
        str(row.row["n"]),
        WORDS[row.verdict],
        row.place,
    ]


def table(head: Iterable[str], rows: Iterable[list[str]]) -> Block:
    names = list(head)
    return "\n".join([line(names), "|" + " --- |" * len(names), *(line(row) for row in rows)])


def line(values: list[str]) -> str:
    return "| " + " | ".join(value if isinstance(value, Code) else text(value) for value in values) + " |"


def text(value: str) -> str:
    """Text from records stays text: no HTML, no column of its own, no emphasis."""
    flat = " ".join(html.escape(value, quote=False).split())
    return re.sub(r"([|`*\[\]\\]|(?<!\w)_|_(?!\w))", r"\\\1", flat)


class Code(str):
    """Markdown already: it is not escaped again."""

    __slots__ = ()


def code(value: str) -> Code:
    """A formula: stars must stay stars."""
    return Code("`" + " ".join(value.split()).replace("`", "'").replace("|", "\\|") + "`")


def write_markdown(page: Page, file: Path) -> Path:
    """Whole or not at all. Raises OSError."""
    write_atomically(file, markdown_of(page).encode())
    return file
