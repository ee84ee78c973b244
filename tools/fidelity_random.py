"""Runs profile and real client side by side in scenarios drawn by chance, and says how often they agree.

    python -m tools.fidelity_random [--seed 7] [--number 50] [--out DIR]

What a profile does in the scenarios that it was written for proves little of the others. Scenarios, runs and the rows
that were compared stay in DIR.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cli.agree.matrix import MatrixRequest, SuiteInterrupted, measure, write_matrix
from cli.exit_codes import ExitCode
from cli.suite.request import Request
from cli.terminal.console import console
from harness.records.agreement import AgreementRecord, SideComparison
from harness.suite.machine import timestamp_name
from harness.suite.planning import Selection
from tools.random_scenarios import draw

REPEAT, MAX_REPEAT = 13, 120
MIN_AGREEMENT = 0.96
"""Of the scenarios drawn, so many have to agree: 48 of 50."""


@dataclass(frozen=True, slots=True)
class ScenarioAgreement:
    """A scenario and its rows: times, counts and how it ended, of the profile beside the real client."""

    name: str
    rows: tuple[AgreementRecord, ...]

    @property
    def agrees(self) -> bool:
        return all(row.outcome == "agrees" for row in self.rows)

    @property
    def time_comparison(self) -> SideComparison:
        return next(row for row in self.rows if row.unit == "s").compared[0]

    @property
    def line(self) -> str:
        row = next(row for row in self.rows if row.unit == "s")
        real, profile = ("?" if side.median is None else f"{side.median:.3f}" for side in row.sides)
        ways = f"  {self.time_comparison.ways} ways" if self.time_comparison.ways > 1 else ""
        end = " ".join(word for word, _ in next(row for row in self.rows if row.unit == "outcome").sides[0].outcomes)
        head = f"{'ok    ' if self.agrees else 'APART '}{self.name}  {row.client_version}"
        return f"{head:<46}{real:>8} s real {profile:>8} s profile  {end}{ways}"

    @property
    def reasons(self) -> list[str]:
        return [
            f"{row.measure}: {compared.outcome}: {compared.reason}"
            for row in self.rows
            for compared in row.compared
            if compared.outcome != "agrees"
        ]


def main(arguments: Sequence[str] | None = None) -> int:
    """0 where enough of them agree, 1 where not."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--number", type=int, default=50)
    parser.add_argument("--out", type=Path, default=Path("results") / f"fidelity-random-{timestamp_name()}")
    parser.add_argument("--cells", type=int, default=None)
    given = parser.parse_args(arguments)
    folder = given.out / "scenarios"
    folder.mkdir(parents=True)
    for name, text in draw(given.seed, given.number):
        (folder / f"{name}.scenario.yaml").write_text(text, encoding="utf-8")
    request = Request(
        paths=(str(folder),), environment="local", seed=given.seed, repeat=REPEAT, client="both",
        settings={}, selection=Selection(), folder=Path.cwd(),
    )  # fmt: skip
    asked = MatrixRequest(request=request, sides=("real", "profile"), out=given.out, most=MAX_REPEAT, cells=given.cells)
    try:
        matrix = measure(console(), asked)
    except SuiteInterrupted as interrupted:
        print(f"INTERRUPTED  {interrupted}")
        return ExitCode.INTERRUPTED
    write_matrix(matrix)
    return report(by_scenario(matrix.records), given.seed)


def by_scenario(records: Sequence[AgreementRecord]) -> list[ScenarioAgreement]:
    together: dict[str, list[AgreementRecord]] = {}
    for record in records:
        together.setdefault(record.scenario, []).append(record)
    return [ScenarioAgreement(name, tuple(rows)) for name, rows in sorted(together.items())]


def report(scenarios: Sequence[ScenarioAgreement], seed: int) -> int:
    """Print them all, those apart last, with their reasons; then how many agree, and the worst difference of all."""
    print()
    for one in sorted(scenarios, key=lambda one: (not one.agrees, one.name)):
        print(one.line)
        for reason in one.reasons:
            print(f"        {reason}")
    agreed = sum(one.agrees for one in scenarios)
    worst = max(scenarios, key=lambda one: abs(one.time_comparison.difference or 0.0) / one.time_comparison.bound)
    print(
        f"\n{agreed} of {len(scenarios)} scenarios agree, seed {seed}; the worst difference: "
        f"{worst.time_comparison.difference or 0.0:+.3f} s of {worst.time_comparison.bound:.3f} s allowed"
        f" ({worst.name})"
    )
    return 0 if agreed >= MIN_AGREEMENT * len(scenarios) else 1


if __name__ == "__main__":
    raise SystemExit(main())
