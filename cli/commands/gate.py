"""`faultlab gate`: did the client get worse than its baseline?"""

from pathlib import Path

import click

from cli.arguments import ANY_PATH, FILE
from cli.errors import CommandError
from cli.exit_codes import ExitCode
from cli.gate.baseline_update import update_baseline
from cli.gate.result import GateOptions, Inconclusive, floor_from_option, report_result
from cli.gate.suites import load_baseline, load_current, nothing_selected_error, rerun_baseline_suite
from cli.terminal.console import console
from harness.comparing.cases import select_scenarios
from harness.gating.gate import gate as compare_with_baseline


def gate(
    *,
    paths: tuple[str, ...],
    a: str | None,
    b: str | None,
    baseline: Path | None,
    current: Path | None,
    run: bool,
    repeat: int | None,
    out: Path | None,
    only: tuple[str, ...],
    floor: str | None,
    update_: bool,
    inconclusive: Inconclusive,
    json: bool,
    all_: bool,
    ci: bool,
    junit: Path | None,
) -> ExitCode:
    """Compare a suite with a baseline: what got slower, worse or lost?

    Something counts as worse only if chance hardly explains the difference and it is certainly above the floor. About
    20 runs of each case on both sides are usually enough. Exit 10: something got worse; 2: something may have got worse
    by more than the floor; 0: neither.
    """
    screen = console(json=json, ci=ci)
    options = GateOptions(
        inconclusive=inconclusive, json=json, show_all=all_, baseline=baseline, current=out or current, only=only,
        floor=floor, run=run, interleaved=a is not None, junit=junit,
    )  # fmt: skip
    declared = floor_from_option(floor)
    if a is not None and b is not None and run:
        from cli.gate.interleaved import InterleavedRequest, run_interleaved  # here, since it brings the lab along

        if baseline is not None or current is not None or update_:
            raise CommandError(
                "--a and --b measure both sides now: there is no baseline to name or to write", "leave it away"
            )
        request = InterleavedRequest(first=a, second=b, paths=paths, only=only, repeat=repeat, out=out)
        sides = run_interleaved(screen, request)
        if isinstance(sides, ExitCode):
            return sides
        return report_result(screen, compare_with_baseline(*sides, floor=declared), options)
    if paths and a is None and b is None:
        raise CommandError(
            f"without --a and --b the gate takes no paths, but {paths[0]} is one",
            "name the results to check with --current DIR, or scenarios of the baseline with --only NAME",
        )
    if a is not None or b is not None:
        raise CommandError(
            "two programs are run in turn with --run, --a and --b, and scenarios",
            "faultlab gate --run --a './mine-before' --b './mine-now' my.scenario.yaml",
        )
    _check_options(run=run, current=current, repeat=repeat, out=out)
    if update_ and junit is not None:
        raise CommandError("--junit writes a comparison, --update makes none", "leave one away")
    if update_ and not run:
        return update_baseline(screen, baseline, load_current(current), only, declared)
    before = load_baseline(baseline)
    now = rerun_baseline_suite(screen, before, only, repeat, out, json=json, ci=ci) if run else load_current(current)
    if isinstance(now, ExitCode):
        return now
    if update_:
        return update_baseline(screen, baseline, now, only, declared)
    if only and not select_scenarios(before, only).cases and not select_scenarios(now, only).cases:
        raise nothing_selected_error(before, only)
    return report_result(screen, compare_with_baseline(before, now, floor=declared, only=only), options)


def _check_options(*, run: bool, current: Path | None, repeat: int | None, out: Path | None) -> None:
    """Raises CommandError for options that say two things at once."""
    if run and current is not None:
        raise CommandError(
            "--run measures now, --current names what was measured: they exclude each other", "leave one away"
        )
    if repeat is not None and not run:
        raise CommandError("--repeat says how often to run: it needs --run", "faultlab gate --run --repeat 20")
    if out is not None and not run:
        raise CommandError("--out says where to put the runs: it needs --run", f"faultlab gate --run --out {out}")


command = click.Command(
    "gate",
    callback=gate,
    help=gate.__doc__,
    params=[
        click.Argument(["paths"], nargs=-1, metavar="[PATHS]..."),
        click.Option(
            ["--baseline"],
            type=ANY_PATH,
            metavar="DIR|FILE",
            help="A results folder, or a file that --update wrote; else faultlab-baseline.json.",
        ),
        click.Option(["--current"], type=ANY_PATH, metavar="DIR", help="The results to check; else the newest."),
        click.Option(["--run"], is_flag=True, help="Run the baseline's suite now, as often as it was run then."),
        click.Option(
            ["--a"], metavar="CMD", help="With --run, --b and PATHS: the program as it was; both are run in turn."
        ),
        click.Option(["--b"], metavar="CMD", help="The program as it is now."),
        click.Option(["--repeat"], type=click.IntRange(1, 1000), help="With --run: runs of each case."),
        click.Option(
            ["--out"],
            type=ANY_PATH,
            metavar="DIR",
            help="With --run: folder of the results; else results/<time>-gate.",
        ),
        click.Option(["--only"], multiple=True, metavar="NAME", help="Only scenarios of this name (a pattern too)."),
        click.Option(
            ["--floor"],
            metavar="EFFECT",
            help="The least change that matters: '5% + 20ms' of the baseline's median, or as it declares.",
        ),
        click.Option(["--update", "update_"], is_flag=True, help="Write the baseline file instead of comparing."),
        click.Option(
            ["--inconclusive"],
            type=click.Choice(["fail", "warn"]),
            default="fail",
            show_default=True,
            help="Whether cases that may have got worse by more than the floor end with 2 or 0.",
        ),
        click.Option(["--ci"], is_flag=True, help="For CI: annotations, a summary, groups; nothing moves."),
        click.Option(["--junit"], type=FILE, metavar="FILE", help="Write the comparison as JUnit XML."),
        click.Option(["--all", "all_"], is_flag=True, help="Show everything that differs."),
        click.Option(["--json"], is_flag=True, help="One JSON document on stdout, progress on stderr."),
    ],
)
