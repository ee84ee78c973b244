"""`faultlab gate --update`: the current suite, or a part of it, becomes the baseline file."""

import shlex
from pathlib import Path

from rich.console import Console

from cli.errors import CommandError
from cli.exit_codes import ExitCode
from cli.gate.suites import BASELINE, nothing_selected_error
from cli.show.formatting import pluralized
from cli.show.rows import wrapped
from harness.comparing.cases import SuiteRuns, select_scenarios
from harness.comparing.floor import DEFAULT_FLOOR, Floor
from harness.comparing.shifts import MIN_RUNS
from harness.gating.baseline import merge_into_baseline, write_baseline
from harness.gating.reading import read_suite_runs


def update_baseline(
    screen: Console, path: Path | None, current: SuiteRuns, only: tuple[str, ...], floor: Floor | None
) -> ExitCode:
    """Write the current suite as the baseline; with `only`, put those cases in the place of the baseline's."""
    target = path or BASELINE
    if target.is_dir():
        raise CommandError(
            f"{target} is a results folder: it is never changed",
            f"name a file: faultlab gate --update --baseline {BASELINE}",
        )
    if current.unfinished:
        raise CommandError(
            f"{current.source} has not ended: {current.unfinished}",
            f"resume it: faultlab run --resume {shlex.quote(current.source)}",
        )
    taken = select_scenarios(current, only)
    if only and not taken.cases:
        raise nothing_selected_error(current, only)
    if not any(case.counted for case in taken.cases):
        raise CommandError(
            f"no run of {current.source} is conclusive: that is no baseline",
            "run it again",
            code=ExitCode.NOTHING_SELECTED,
        )
    # A pipe or /dev/stdout holds no baseline, and reading it may block for ever. An empty file has none yet.
    before = read_suite_runs(target) if target.is_file() and target.stat().st_size else None
    whole = merge_into_baseline(before, taken, only) if only and before is not None else taken
    chosen = floor or (before.floor if before is not None else None) or DEFAULT_FLOOR
    write_baseline(target, whole, chosen)
    scenarios = len({case.key.scenario for case in taken.cases})
    screen.print(
        wrapped(
            f"{target}   {pluralized(len(taken.cases), 'case')} of {pluralized(scenarios, 'scenario')}"
            f" from {current.source},"
            f" floor {chosen}",
            lead="",
        )
    )
    _print_dropped_cases(screen, before, whole)
    few = [case for case in taken.cases if case.counted < MIN_RUNS]
    if few:
        screen.print(
            wrapped(
                f"{pluralized(len(few), 'case')} with fewer than {MIN_RUNS} conclusive runs can only be unsure:"
                f" faultlab run --repeat 20",
                lead="",
                style="yellow",
            )
        )
    return ExitCode.PASSED


def _print_dropped_cases(screen: Console, before: SuiteRuns | None, whole: SuiteRuns) -> None:
    """A partial suite replaces the whole baseline: name the cases that are no longer checked."""
    kept = {case.key for case in whole.cases}
    gone = [case.key for case in before.cases if case.key not in kept] if before is not None else []
    if gone:
        names = ", ".join(sorted({name.scenario for name in gone}))
        warning = f"{pluralized(len(gone), 'case')} of the old baseline left, since the suite did not run them: {names}"
        screen.print(wrapped(f"{warning} (--only NAME replaces a part)", lead="", style="yellow"))
