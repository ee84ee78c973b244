"""`faultlab gate`: did the client get worse than its baseline?"""

from pathlib import Path

import click

from cli.console import console
from cli.errors import Stop
from cli.exits import Exit
from cli.gating import Answer, Inconclusive, answer, baseline_side, current_side, floor_of, run_again, update
from harness.gating.comparison import gate as hold


def gate(
    *,
    baseline: Path | None,
    current: Path | None,
    run: bool,
    repeat: int | None,
    only: tuple[str, ...],
    floor: str | None,
    update_: bool,
    inconclusive: Inconclusive,
    json: bool,
    all_: bool,
) -> Exit:
    """Hold a suite against a baseline: what got slower, worse or lost since?

    An alarm takes an order of runs that chance hardly makes, and an effect that lies above the floor for sure. Some 20
    runs of each case on both sides are enough for most. Exit 10: something got worse; 2: nobody can tell; 0: neither.
    """
    screen = console(json=json)
    if run and current is not None:
        raise Stop("--run measures now, --current names what was measured: they exclude each other", "leave one away")
    if repeat is not None and not run:
        raise Stop("--repeat says how often to run: it needs --run", "faultlab gate --run --repeat 20")
    declared = floor_of(floor)
    if update_ and not run:
        return update(screen, baseline, current_side(current), only, declared)
    before = baseline_side(baseline)
    now = run_again(before, only, repeat, quiet=json) if run else current_side(current)
    if isinstance(now, Exit):
        return now
    if update_:
        return update(screen, baseline, now, only, declared)
    how = Answer(inconclusive=inconclusive, json=json, everything=all_, baseline=baseline)
    return answer(screen, hold(before, now, floor=declared, only=only), how)


command = click.Command(
    "gate",
    callback=gate,
    help=gate.__doc__,
    params=[
        click.Option(
            ["--baseline"],
            type=click.Path(path_type=Path),
            metavar="DIR|FILE",
            help="A results folder, or a file that --update wrote; else faultlab-baseline.json.",
        ),
        click.Option(
            ["--current"], type=click.Path(path_type=Path), metavar="DIR", help="What to hold; else the newest results."
        ),
        click.Option(["--run"], is_flag=True, help="Run the baseline's suite now, as often as it was run then."),
        click.Option(["--repeat"], type=click.IntRange(1, 1000), help="With --run: so many runs of each case."),
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
        click.Option(["--all", "all_"], is_flag=True, help="Show everything that differs."),
        click.Option(["--json"], is_flag=True, help="One JSON document on stdout, progress on stderr."),
    ],
)
