"""`faultlab gate --run --a CMD --b CMD`: two programs of the user's, run by run in turn, as the two sides of a gate."""

import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from cli.console import grouped, in_log
from cli.diagnostics import say_problems
from cli.errors import Stop
from cli.exits import Exit
from cli.manifests import begun_now
from cli.places import free_folder
from cli.show.figures import many
from cli.show.live import Display
from harness.environments.world import Environment
from harness.expectations import judge
from harness.gating.cases import Side
from harness.gating.sides import read_side
from harness.language import Problems
from harness.plan import RunPlan
from harness.records.writer import Writer
from harness.suite.choosing import choose
from harness.suite.collection import collect
from harness.suite.interleaving import SortingWriter, in_turn, with_program
from harness.suite.machine import stamp
from harness.suite.planning import Loaded, Selection, load_all, plan_all
from harness.suite.runner import Runner

REPEAT = 20
SEED = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What is asked for: `first` and `second` are commands as a shell would take them, `paths` scenarios; the runs go
    into `a` and `b` below `out`, else below a new folder."""

    first: str
    second: str
    paths: tuple[str, ...]
    only: tuple[str, ...]
    repeat: int | None
    out: Path | None


def run_in_turn(screen: Console, trial: Trial) -> tuple[Side, Side] | Exit:
    """Both sides, or an exit code where they could not be run. Raises Stop for what is no program or no scenario."""
    programs = [_program(option, text) for option, text in (("--a", trial.first), ("--b", trial.second))]
    if programs[0] == programs[1]:
        raise Stop("--a and --b are the same command", "name the program as it was, and as it is now")
    if not trial.paths:
        raise Stop("--a and --b need scenarios whose program they replace", "faultlab gate --run --a ... --b ... FILE")
    try:
        loaded = load_all(collect(trial.paths, folder=Path.cwd()))
        environment, _ = choose("local")
        try:
            suites = [_plans(loaded, argv, trial, environment) for argv in programs]
        except BaseException:
            environment.close()
            raise
    except Problems as problems:
        say_problems(problems, ci=in_log(screen))
        return Exit.USAGE
    if not suites[0]:
        environment.close()
        names = ", ".join(one.scenario.name for one in loaded)
        raise Stop("no scenario was selected: nothing was run", f"scenarios: {names}", code=Exit.NOTHING)
    return _carry_out(screen, suites, environment, trial)


def _carry_out(
    screen: Console, suites: Sequence[tuple[RunPlan, ...]], environment: Environment, trial: Trial
) -> tuple[Side, Side] | Exit:
    parent = trial.out or free_folder(f"{stamp()}-gate")
    folders = (parent / "a", parent / "b")
    plans = in_turn(*suites)
    try:
        arguments = ("--env", "local", "--seed", str(SEED), "--repeat", str(trial.repeat or REPEAT), "--", *trial.paths)
        writers = [
            Writer.create(
                folder,
                begun_now(
                    f"{parent.name}-{folder.name}", own, environment="local", seed=SEED, arguments=arguments,
                    folder=Path.cwd(),
                ),
            )
            for folder, own in zip(folders, suites, strict=True)
        ]  # fmt: skip
    except BaseException:
        environment.close()
        raise
    screen.print(f"A  {trial.first}\nB  {trial.second}")
    screen.print(f"{many(len(plans), 'run')} in turn, local, {many(environment.lanes, 'cell')}, into {parent}\n")
    with (
        writers[0],
        writers[1],
        grouped(screen, "the runs"),
        Display(screen, plans, lanes=environment.lanes) as display,
    ):
        sorting = SortingWriter(list(zip(writers, suites, strict=True)))
        complete = Runner(environment, judge, sorting, display).run(plans)
    screen.print()
    return (read_side(folders[0]), read_side(folders[1])) if complete else Exit.INTERRUPTED


def _plans(
    loaded: Sequence[Loaded], argv: tuple[str, ...], trial: Trial, environment: Environment
) -> tuple[RunPlan, ...]:
    try:
        own = [with_program(one, argv) for one in loaded]
    except ValueError as error:
        raise Stop(
            f"--a and --b replace the program of a scenario: {error}", "name scenarios with `driver: {exec: ...}`"
        ) from error
    selection = Selection(only=trial.only)
    return plan_all(own, selection, environment, seed=SEED, repeat=trial.repeat or REPEAT).plans


def _program(option: str, text: str) -> tuple[str, ...]:
    """The command's words; a program with a `/` counts from the folder in which the command is given."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise Stop(f"{option} {text}: {error}", "quote it as a shell would take it") from error
    program = str(Path.cwd() / words[0]) if words and "/" in words[0] else words[0] if words else ""
    if not program or shutil.which(program) is None:
        raise Stop(f"{option}: there is no program {words[0] if words else '``'}", "is it executable, or on PATH?")
    return (program, *words[1:])
