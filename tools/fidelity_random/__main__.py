"""Runs profile and real client side by side in scenarios drawn by chance, and says how often they agree.

    python -m tools.fidelity_random [--client sarama] [--seed 7] [--number 100] [--cells 64] [--most 300]
                                    [--out DIR | --resume DIR]

What a profile does in the scenarios that it was written for proves little of the others. Scenarios, runs and the rows
that were compared stay in DIR. Without --seed a new one is drawn; it is printed, and draws the same scenarios again.
What was interrupted goes on with --resume, and the same --client and --seed: no run that is in DIR is made again.
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
from harness.language.yaml.files import SCENARIO_SUFFIX
from harness.realclients import RealClientMissing
from harness.records.folder import RUNS
from harness.records.reader import read
from harness.records.run import RunRecord
from harness.suite.machine import timestamp_name
from harness.suite.planning import Selection
from tools.fidelity_random.clients import CLIENTS
from tools.fidelity_random.drawing import draws, is_drawn_by
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
    out: Path = given.out or given.resume or Path("results") / f"fidelity-random-{given.client}-{timestamp_name()}"
    if out.exists() and not given.resume:
        parser.error(f"{out} is there already: name another folder with --out, or go on in it with --resume")
    if given.resume and not is_drawn_by(given.client, seed, out):
        parser.error(f"{out} holds nothing drawn by {given.client} and seed {seed}: name both as they were printed")
    print(f"{given.client}, seed {seed}, in {out}")
    earlier = [file.parent for file in sorted(out.rglob(RUNS))]
    screened = [run for folder in earlier for run in read(folder).runs if run.driver == "real" and run.repeat == 1]
    folder = out / f"resumed-{len([*out.glob('resumed-*')]) + 1}" if given.resume else out
    request = Request(
        paths=(), environment="local", seed=seed, repeat=REPEAT, client="both", settings={}, selection=Selection(),
        folder=Path.cwd(),
    )  # fmt: skip
    asked = MatrixRequest(
        request=request, sides=("real", "profile"), out=folder, most=given.most, looks=LOOKS, cells=given.cells
    )

    def run_real(files: Sequence[Path], number: int) -> Sequence[RunRecord]:
        names = {path.name for path in files}
        known = [run for run in screened if f"{run.scenario}{SCENARIO_SUFFIX}" in names]
        once = replace(asked, request=replace(request, paths=tuple(map(str, files)), repeat=1), sides=("real",))
        with opened("local", cells=given.cells) as environment:
            made = {run.run_id for run in known}
            found = run_suite(console(), once, environment, folder / f"screening-{number}", made=made)
        earlier.extend([folder / f"screening-{number}"] if found else [])
        return [*known, *found]

    try:
        screening = screen(draws(given.client, seed), given.number, out, run_real)
        print(*screening.lines(), sep="\n")
        paths = tuple(map(str, screening.accepted))
        matrix = measure(console(), replace(asked, request=replace(request, paths=paths)), earlier=earlier)
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
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--out", type=Path, metavar="DIR", help="a new folder")
    where.add_argument("--resume", type=Path, metavar="DIR", help="go on with what was interrupted there")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
