"""The claims as the page shows them: one entry a formula, with every case that it speaks about."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from harness.records.claims import ClaimId, all_as_declared, combined_outcome, measure_label
from harness.records.claims import as_declared as turned_out_as_declared
from reports import figures
from reports.charts.interval import IntervalChart, interval_chart
from reports.charts.strip import Strip, strip_of
from reports.pages.cases import DisplayNames, Row
from reports.pages.groups import statistic
from reports.pages.times import parameters_of
from reports.pages.truncate import Truncated, truncate

MAX_CASES = 40
ORDER = ("refuted", "mixed", "held", "inconclusive")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimCase:
    """What the claim predicts for one case, and its outcome there. `says_n` and `found_n` are numbers to sort by."""

    client: str
    fault: str
    case: tuple[tuple[str, str], ...]
    scenario: str
    says: str
    says_n: float | None
    found: str
    found_n: float | None
    off: str
    picture: Strip | IntervalChart | None
    runs: int
    outcome: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One formula from a published text, over all cases that it applies to."""

    formula: str
    names: tuple[str, ...]
    when: tuple[str, ...]
    source: str
    what: str
    verdict: str
    as_declared: bool | None
    cases: Truncated[ClaimCase]
    telling: ClaimCase
    """The case that stands for the others."""
    outcomes: Mapping[str, int]
    """In how many of all cases it was held, refuted, both (mixed), or neither."""

    @property
    def standing(self) -> str:
        """The verdict that it adds to the page's filters: what is as declared is well."""
        if self.verdict == "inconclusive":
            return "inconclusive"
        return "fail" if self.as_declared is False else "pass"

    @property
    def tally(self) -> str:
        """`refuted in 3 of 4 cases`; `refuted in 1, held in 3 of 4 cases` of one that is mixed."""
        outcomes = ", ".join(
            f"{outcome} in {self.outcomes[outcome]:,}" for outcome in self._tally_outcomes if self.outcomes[outcome]
        )
        return f"{outcomes} of {figures.many(self.cases.total, 'case')}"

    @property
    def _tally_outcomes(self) -> tuple[str, ...]:
        return ("refuted", "held", "mixed") if self.verdict == "mixed" else (self.verdict,)


def claims_of(rows: Sequence[Row], groups: Iterable[Row], names: DisplayNames) -> tuple[Claim, ...]:
    """Refuted ones first. A claim that is made in several scenarios is one claim."""
    together: dict[ClaimId, list[tuple[Row, ClaimCase]]] = {}
    for row in rows:
        claim_id = ClaimId(measure_label(row["measure"]), row["formula"], row["source"] or "")
        together.setdefault(claim_id, []).append((row, claim_case(row, names, over_repeats=False)))
    for row in groups:
        if row["kind"] == "claim" and row["outcome"] != "skipped":
            claim_id = ClaimId(statistic(row), row["formula"], row["source"] or "")
            together.setdefault(claim_id, []).append((row, claim_case(row, names, over_repeats=True)))
    claims = [claim_of(claim_id, own) for claim_id, own in together.items()]
    return tuple(sorted(claims, key=lambda one: (ORDER.index(one.verdict), one.names, one.formula)))


def claim_of(claim_id: ClaimId, own: Sequence[tuple[Row, ClaimCase]]) -> Claim:
    verdict = combined_outcome(one.outcome for _, one in own)
    return Claim(
        formula=claim_id.formula,
        names=tuple(sorted({row["name"] for row, _ in own if row["name"]})),
        when=tuple(dict.fromkeys(row["when"] for row, _ in own if row["when"])),
        source=claim_id.source,
        what=claim_id.what,
        verdict=verdict,
        as_declared=all_as_declared(as_declared(row, one) for row, one in own),
        cases=truncate((one for _, one in own), MAX_CASES, "report/claims.parquet", worst_first=False),
        telling=telling(own, verdict),
        outcomes=Counter(one.outcome for _, one in own),
    )


def telling(own: Sequence[tuple[Row, ClaimCase]], verdict: str) -> ClaimCase:
    """The first that is not as declared, else that has the claim's verdict, else that refutes it."""
    ranked = (
        *(one for row, one in own if as_declared(row, one) is False),
        *(one for _, one in own if one.outcome == verdict),
        *(one for _, one in own if one.outcome == "refuted"),
        *(one for _, one in own),
    )
    return ranked[0]


def as_declared(row: Row, one: ClaimCase) -> bool | None:
    if "as_declared" in row:
        declared: bool | None = row["as_declared"]
        return declared
    return turned_out_as_declared(one.outcome, row["declared_holds"])


def claim_case(row: Row, names: DisplayNames, *, over_repeats: bool) -> ClaimCase:
    """Of a row of the claims table, or of the groups table where the claim is about all repeats of a case."""
    says, found = row["predicted"], row["estimate" if over_repeats else "median"]
    outcome = row["outcome" if over_repeats else "verdict"]
    return ClaimCase(
        client=names.of(row),
        fault=names.fault(row),
        case=parameters_of(row["case"]),
        scenario=row["scenario"],
        says=row["formula"] if row["unit"] == "text" else figures.amount(says, row["unit"]),
        says_n=says,
        found=figures.amount(found, row["unit"]) if over_repeats else figures.measured(row),
        found_n=found,
        off="" if found is None or says is None else figures.difference(found - says, row["unit"]),
        picture=interval_chart(row) if over_repeats else strip_of(row),
        runs=row["measured" if over_repeats else "n"],
        outcome=outcome if outcome in ORDER else "inconclusive",
    )
