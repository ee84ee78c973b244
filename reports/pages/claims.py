"""The claims as the page shows them: one card a formula, with every case that it speaks about."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from reports import figures
from reports.charts.strip import Strip, strip_of
from reports.pages.cases import Row


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One formula from somebody's text, over all cases that it speaks about."""

    scenario: str
    formula: str
    name: str
    when: str
    source: str
    measure: str
    verdict: str
    as_declared: bool | None
    rows: tuple[tuple[Row, Strip | None, str], ...]


def claims_of(rows: Sequence[Row]) -> tuple[Claim, ...]:
    together: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        together.setdefault((row["scenario"], row["measure"], row["formula"], row["line"]), []).append(row)
    claims = []
    for own in together.values():
        verdicts = {row["verdict"] for row in own} - {"inconclusive"} or {"inconclusive"}
        declared = [row["as_declared"] for row in own if row["as_declared"] is not None]
        claims.append(
            Claim(
                scenario=own[0]["scenario"],
                formula=own[0]["formula"],
                name=own[0]["name"] or "",
                when=own[0]["when"] or "",
                source=own[0]["source"] or "",
                measure=own[0]["measure"],
                verdict=verdicts.pop() if len(verdicts) == 1 else "mixed",
                as_declared=all(declared) if declared else None,
                rows=tuple((row, strip_of(row), off_by(row)) for row in own),
            )
        )
    return tuple(claims)


def off_by(row: Row) -> str:
    """How far the claim is off, measured from what it says."""
    if row["median"] is None or row["predicted"] is None:
        return ""
    return figures.difference(row["median"] - row["predicted"], row["unit"])
