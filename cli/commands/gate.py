"""`faultlab gate`: did the client get worse than its baseline?"""

from pathlib import Path

import click

from cli import named_paths
from cli.console import console
from cli.errors import Stop
from cli.exits import Exit
from cli.gated_sides import baseline_side, current_side, nothing_selected, run_again
from cli.gating import Answer, Inconclusive, answer, floor_of, update
from harness.gating.comparison import gate as hold
from harness.gating.comparison import selected


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
) -> Exit:
    """Hold a suite against a baseline: what got slower, worse or lost since?

    An alarm takes an order of runs that chance hardly makes, and an effect that lies above the floor for sure. Some 20
    runs of each case on both sides are enough for most. Exit 10: something got worse; 2: nobody can tell; 0: neither.
    """
    screen = console(json=json, ci=ci)
    how = Answer(
        inconclusive=inconclusive, json=json, everything=all_, baseline=baseline, current=out or current, only=only,
        floor=floor, run=run, interleaved=a is not None, junit=junit,
    )  # fmt: skip
    declared = floor_of(floor)
    if a is not None and b is not None and run:
        from cli.interleaved import Trial, run_in_turn  # here, since it brings the lab along

        if baseline is not None or current is not None or update_:
            raise Stop("--a and --b measure both sides now: there is no baseline to name or to write", "leave it away")
        sides = run_in_turn(screen, Trial(first=a, second=b, paths=paths, only=only, repeat=repeat, out=out))
        return sides if isinstance(sides, Exit) else answer(screen, hold(*sides, floor=declared), how)
    if a is not None or b is not None or paths:
        raise Stop(
            "two programs are run in turn with --run, --a and --b, and scenarios",
            "faultlab gate --run --a './mine-before' --b './mine-now' my.scenario.yaml",
        )
    _fit(run=run, current=current, repeat=repeat, out=out)
    if update_ and junit is not None:
        raise Stop("--junit writes a comparison, --update makes none", "leave one away")
    if update_ and not run:
        return update(screen, baseline, current_side(current), only, declared)
    before = baseline_side(baseline)
    now = run_again(screen, before, only, repeat, out, json=json, ci=ci) if run else current_side(current)
    if isinstance(now, Exit):
        return now
    if update_:
        return update(screen, baseline, now, only, declared)
    if only and not selected(before, only).cases and not selected(now, only).cases:
        raise nothing_selected(before, only)
    return answer(screen, hold(before, now, floor=declared, only=only), how)


def _fit(*, run: bool, current: Path | None, repeat: int | None, out: Path | None) -> None:
    """Raises Stop for options that say two things at once."""
    if run and current is not None:
        raise Stop("--run measures now, --current names what was measured: they exclude each other", "leave one away")
    if repeat is not None and not run:
        raise Stop("--repeat says how often to run: it needs --run", "faultlab gate --run --repeat 20")
    if out is not None and not run:
        raise Stop("--out says where to put the runs: it needs --run", f"faultlab gate --run --out {out}")


command = click.Command(
    "gate",
    callback=gate,
    help=gate.__doc__,
    params=[
        click.Argument(["paths"], nargs=-1, metavar="[PATHS]..."),
        click.Option(
            ["--baseline"],
            type=named_paths.ANY,
            metavar="DIR|FILE",
            help="A results folder, or a file that --update wrote; else faultlab-baseline.json.",
        ),
        click.Option(["--current"], type=named_paths.ANY, metavar="DIR", help="What to hold; else the newest results."),
        click.Option(["--run"], is_flag=True, help="Run the baseline's suite now, as often as it was run then."),
        click.Option(
            ["--a"], metavar="CMD", help="With --run, --b and PATHS: the program as it was; both are run in turn."
        ),
        click.Option(["--b"], metavar="CMD", help="The program as it is now."),
        click.Option(["--repeat"], type=click.IntRange(1, 1000), help="With --run: so many runs of each case."),
        click.Option(
            ["--out"],
            type=named_paths.ANY,
            metavar="DIR",
            help="With --run: folder of the results; else results/<time>-gate.",
        ),
        click.Option(["--only"], multiple=True, metavar="NAME", help="Only scenarios of this name (a pattern too)."),
        click.Option(
            ["--floor"], metavar="EFFECT", help="What matters: '5% + 20ms' of the baseline's median, or as it declares."
        ),
        click.Option(["--update", "update_"], is_flag=True, help="Write the baseline file instead of holding it."),
        click.Option(
            ["--inconclusive"],
            type=click.Choice(["fail", "warn"]),
            default="fail",
            show_default=True,
            help="Whether what nobody can tell ends with 2 or 0.",
        ),
        click.Option(["--ci"], is_flag=True, help="For CI: annotations, a summary, groups; nothing moves."),
        click.Option(["--junit"], type=named_paths.FILE, metavar="FILE", help="Write the comparison as JUnit XML."),
        click.Option(["--all", "all_"], is_flag=True, help="Show everything that differs."),
        click.Option(["--json"], is_flag=True, help="One JSON document on stdout, progress on stderr."),
    ],
)
