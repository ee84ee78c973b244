"""A gate in other people's CI: an annotation for each case that changed, and the page of the job."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from cli.ci import Annotation, Level
from cli.show.formatting import pluralized
from cli.show.gate_findings import CaseStatus, GateFinding, findings
from cli.show.markdown import code, plain, table
from harness.gating.gate import GateResult

LEVELS: dict[CaseStatus, Level] = {"regression": "error", "lost": "error", "unsure": "warning"}
"""What is unsure is a warning, as inconclusive runs are, though it may fail the job as well."""
COLUMNS = ("", "case", "what", "figures")
MAX_ROWS = 200
"""So many cases that are as they were are left out of a page: a reader looks for the others."""


def annotations(gated: GateResult, *, verdict: str) -> Iterator[Annotation]:
    """Only what is worse or unsure. `verdict` is the text of the closing line, shown where nothing was compared."""
    if gated.other_machine or not (gated.compared or gated.silent or gated.lost):
        yield Annotation(level="warning", title="nothing-compared", message=verdict)
        return
    for found in findings(gated):
        if found.status in LEVELS:
            yield Annotation(
                level=LEVELS[found.status], title=found.status, message=f"{found.case}: {found.sentence}",
                file=Path(found.path) if found.path else None, line=1 if found.path else 0,
            )  # fmt: skip


def summary(gated: GateResult, *, head: str, verdict: str, proof: Sequence[str], pointers: Sequence[str]) -> str:
    """Markdown: the verdict, what proves that something was compared, a table of what changed, and what to do
    about it."""
    listed = list(findings(gated)) if not gated.other_machine else []
    rows = [found for found in listed if found.status != "unchanged"]
    same = len(listed) - len(rows)
    parts = [f"### faultlab gate: {plain(head)}", plain(verdict), "  \n".join(map(plain, proof))]
    if rows:
        parts.append(table(COLUMNS, map(_row, rows[:MAX_ROWS])))
    if len(rows) > MAX_ROWS:
        parts.append(f"and {pluralized(len(rows) - MAX_ROWS, 'more case')}")
    if same:
        parts.append(f"unchanged: {pluralized(same, 'case')}")
    parts += ["  \n".join(map(code, pointers))] if pointers else []
    return "\n\n".join(parts) + "\n"


def _row(found: GateFinding) -> tuple[str, ...]:
    status = found.status.upper()
    return (
        f"**{status}**" if found.status in LEVELS else status, plain(found.case), plain(found.measure or found.kind),
        plain(found.figures),
    )  # fmt: skip
