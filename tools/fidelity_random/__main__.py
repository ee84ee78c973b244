"""Runs profile and real client side by side in scenarios drawn by chance, and says how often they agree.

    python -m tools.fidelity_random [--client sarama] [--seed 7] [--number 100] [--cells 64] [--most 300] [--out DIR]

What a profile does in the scenarios that it was written for proves little of the others. Scenarios, runs and the rows
that were compared stay in DIR. Without --seed a new one is drawn; it is printed, and draws the same scenarios again.
"""

import argparse
import secrets
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from cli.agree.matrix import MatrixRequest, SuiteInterrupted, measure, opened, run_suite, write_matrix
from cli.errors import print_error
from cli.exit_codes import ExitCode
from cli.suite.request import Request
from cli.terminal.console import console
from harness.environments.world import EnvironmentUnavailable
from harness.realclients import RealClientMissing
from harness.records.run import RunRecord
from harness.suite.machine import timestamp_name
from harness.suite.planning import Selection
from tools.fidelity_random.clients import CLIENTS
from tools.fidelity_random.drawing import draws
from tools.fidelity_random.screening import screen
from tools.fidelity_random.verdict import by_scenario, report

REPEAT, MAX_REPEAT, LOOKS = 13, 300, 4
"""Runs a side at first, and at most where a race has several outcomes; how often the rows are looked at."""
SEEDS = 1 << 31


def main(arguments: Sequence[str] | None = None) -> int:
    """0 where enough of them agree, 1 where not."""
    parser = _parser()
    given = parser.parse_args(arguments)
    seed: int = secrets.randbelow(SEEDS) if given.seed is None else given.seed
    out: Path = given.out or Path("results") / f"fidelity-random-{given.client}-{timestamp_name()}"
    if out.exists():
        parser.error(f"{out} is there already: name another folder with --out")
    print(f"{given.client}, seed {seed}, in {out}")
    request = Request(
        paths=(), environment="local", seed=seed, repeat=REPEAT, client="both", settings={}, selection=Selection(),
        folder=Path.cwd(),
    )  # fmt: skip
    asked = MatrixRequest(
        request=request, sides=("real", "profile"), out=out, most=given.most, looks=LOOKS, cells=given.cells
    )
    screened: list[Path] = []

    def run_real(files: Sequence[Path], number: int) -> Sequence[RunRecord]:
        screened.append(out / f"screening-{number}")
        once = replace(request, paths=tuple(map(str, files)), repeat=1)
        with opened("local", cells=given.cells) as environment:
            return run_suite(console(), replace(asked, request=once, sides=("real",)), environment, screened[-1])

    try:
        screening = screen(draws(given.client, seed), given.number, out, run_real)
        print(*screening.lines(), sep="\n")
        paths = tuple(map(str, screening.accepted))
        matrix = measure(console(), replace(asked, request=replace(request, paths=paths)), earlier=screened)
    except SuiteInterrupted as interrupted:
        print(f"INTERRUPTED  {interrupted}")
        return ExitCode.INTERRUPTED
    except (EnvironmentUnavailable, RealClientMissing) as refused:
        print_error(f"{refused.reason}\n  {refused.remedy}")
        return ExitCode.LAB_ERROR
    write_matrix(matrix)
    agreed = report(by_scenario(matrix.records), given.number)
    print(*screening.lines(), sep="\n")
    print(f"{given.client}, seed {seed}, in {out}")
    return ExitCode.PASSED if agreed and screening.enough else ExitCode.FAILED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tools.fidelity_random",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--client", choices=tuple(CLIENTS), default="sarama")
    parser.add_argument("--seed", type=int, help="what is drawn; a new one where absent")
    parser.add_argument("--number", type=int, default=100, help="scenarios that are compared")
    parser.add_argument("--cells", type=int, help="runs side by side; as many as there is memory for where absent")
    parser.add_argument("--most", type=int, default=MAX_REPEAT, help="runs a side where a race has several outcomes")
    parser.add_argument("--out", type=Path)
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
