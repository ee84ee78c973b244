"""How many scenarios agree, in every row: times, counts, and how each operation ended."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.agreement.equivalence import SHARE_BOUND
from harness.records.agreement import AgreementRecord

MIN_AGREEMENT = 0.95
"""Of the scenarios compared."""


@dataclass(frozen=True, slots=True)
class ScenarioAgreement:
    """A scenario and its rows."""

    name: str
    rows: tuple[AgreementRecord, ...]

    @property
    def agrees(self) -> bool:
        """A row that differs and is explained does not agree."""
        return not any(self.reasons())

    def reasons(self) -> Iterator[str]:
        """Why it does not agree: a line for each row."""
        for row in self.rows:
            for compared in row.compared:
                if compared.outcome != "agrees":
                    yield f"{row.measure}: {compared.outcome}: {compared.reason}"
            yield from _silent(row)

    @property
    def line(self) -> str:
        first = self.rows[0]
        head = f"{'ok    ' if self.agrees else 'APART '}{self.name}  {first.client_version:<7} {first.fault or 'none'}"
        return f"{head:<60}{'  '.join(_beside(row) for row in self.rows if row.unit == 's')}"

    @property
    def worst(self) -> tuple[float, str]:
        """The largest difference between two times, as a part of what is allowed, and in words."""
        compared = [(one, row) for row in self.rows if row.unit == "s" for one in row.compared]
        found = [(abs(one.difference or 0.0) / one.bound, one, row) for one, row in compared]
        part, one, row = max(found, key=lambda each: each[0])
        return part, f"{one.difference or 0.0:+.3f} s of {one.bound:.3f} s allowed ({self.name}, {row.measure})"


def _beside(row: AgreementRecord) -> str:
    real, profile = ("-" if side.median is None else f"{side.median:.3f}" for side in row.sides)
    ways = max(one.ways for one in row.compared)
    return f"{row.measure.partition('.')[0]} {real}|{profile}" + (f" ({ways} ways)" if ways > 1 else "")


def _silent(row: AgreementRecord) -> Iterator[str]:
    """Runs that told nothing are not compared, so they must not be far more on one side than on the other."""
    shares = [1 - (side.measured + side.censored) / side.runs for side in row.sides]
    if max(shares) - min(shares) > SHARE_BOUND:
        told = " beside ".join(f"{share:.0%} of {side.side}" for share, side in zip(shares, row.sides, strict=True))
        why = next((side.silent for side in row.sides if side.silent), "no value")
        yield f"{row.measure}: no value in {told}: {why}"


def by_scenario(records: Sequence[AgreementRecord]) -> list[ScenarioAgreement]:
    together: dict[str, list[AgreementRecord]] = {}
    for record in records:
        together.setdefault(record.scenario, []).append(record)
    return [ScenarioAgreement(name, tuple(rows)) for name, rows in sorted(together.items())]


def report(scenarios: Sequence[ScenarioAgreement], asked: int) -> bool:
    """Print them all, those apart last, with their reasons; then how many of those `asked` for agree. True where enough
    do."""
    print()
    for one in sorted(scenarios, key=lambda one: (not one.agrees, one.name)):
        print(one.line)
        for reason in one.reasons():
            print(f"        {reason}")
    agreed = sum(one.agrees for one in scenarios)
    worst = max((one.worst for one in scenarios), default=(0.0, "nothing was compared"))[1]
    print(f"\n{agreed} of {asked} scenarios agree in every row; the worst difference: {worst}")
    return agreed >= MIN_AGREEMENT * asked
