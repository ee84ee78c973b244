"""`faultlab gate --run --a CMD --b CMD`: two programs of the user's, run by run in turn, as the two sides of a gate."""

import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from cli.errors import CommandError
from cli.exit_codes import ExitCode
from cli.show.formatting import pluralized
from cli.show.live import Display
from cli.suite.manifest import new_manifest
from cli.suite.obtaining import obtain_for
from cli.suite.results_folders import unused_results_folder
from cli.terminal.console import log_group, writes_to_ci_log
from cli.terminal.problems import print_problems
from harness.comparing.cases import SuiteRuns
from harness.environments.world import Environment
from harness.gating.reading import read_suite_runs
from harness.judging import judge
from harness.language import Problems
from harness.plan import RunPlan
from harness.records.writer import Writer
from harness.suite.collection import collect
from harness.suite.environment_choice import make
from harness.suite.interleaving import RoutingWriter, interleave, with_program
from harness.suite.machine import timestamp_name
from harness.suite.planning import LoadedScenario, Selection, load_all, plan_all
from harness.suite.runner import Runner

ENVIRONMENT = "local"
REPEAT = 20
SEED = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class InterleavedRequest:
    """What is asked for: `first` and `second` are commands as a shell would take them, `paths` scenarios; the runs go
    into `a` and `b` below `out`, else below a new folder."""

    first: str
    second: str
    paths: tuple[str, ...]
    only: tuple[str, ...]
    repeat: int | None
    out: Path | None


def run_interleaved(screen: Console, request: InterleavedRequest) -> tuple[SuiteRuns, SuiteRuns] | ExitCode:
    """Both sides, or an exit code where they could not be run. Raises CommandError for a wrong program or scenario."""
    programs = [_program(option, text) for option, text in (("--a", request.first), ("--b", request.second))]
    if programs[0] == programs[1]:
        raise CommandError("--a and --b are the same command", "name the program as it was, and as it is now")
    if not request.paths:
        raise CommandError(
            "--a and --b need scenarios whose program they replace", "faultlab gate --run --a ... --b ... FILE"
        )
    try:
        loaded = load_all(collect(request.paths, folder=Path.cwd()))
        obtain_for(ENVIRONMENT)
        with make(ENVIRONMENT) as environment:
            suites = [_plans(loaded, argv, request, environment) for argv in programs]
            if suites[0]:
                return _run_plans(screen, suites, environment, request)
    except Problems as problems:
        print_problems(problems, ci=writes_to_ci_log(screen))
        return ExitCode.USAGE
    names = ", ".join(one.scenario.name for one in loaded)
    raise CommandError(
        "no scenario was selected: nothing was run", f"scenarios: {names}", code=ExitCode.NOTHING_SELECTED
    )


def _run_plans(
    screen: Console, suites: Sequence[tuple[RunPlan, ...]], environment: Environment, request: InterleavedRequest
) -> tuple[SuiteRuns, SuiteRuns] | ExitCode:
    parent = request.out or unused_results_folder(f"{timestamp_name()}-gate")
    folders = (parent / "a", parent / "b")
    plans = interleave(*suites)
    arguments = (
        "--env",
        ENVIRONMENT,
        "--seed",
        str(SEED),
        "--repeat",
        str(request.repeat or REPEAT),
        "--",
        *request.paths,
    )
    writers = [
        Writer.create(
            folder,
            new_manifest(
                f"{parent.name}-{folder.name}", own, environment=ENVIRONMENT, seed=SEED, arguments=arguments,
                folder=Path.cwd(),
            ),
        )
        for folder, own in zip(folders, suites, strict=True)
    ]  # fmt: skip
    screen.print(f"A  {request.first}\nB  {request.second}")
    screen.print(
        f"{pluralized(len(plans), 'run')} in turn, local, {pluralized(environment.lanes, 'cell')}, into {parent}\n"
    )
    with (
        writers[0],
        writers[1],
        log_group(screen, "the runs"),
        Display(screen, plans, lanes=environment.lanes) as display,
    ):
        sorting = RoutingWriter(list(zip(writers, suites, strict=True)))
        complete = Runner(environment, judge, sorting, display).run(plans)
    screen.print()
    return (read_suite_runs(folders[0]), read_suite_runs(folders[1])) if complete else ExitCode.INTERRUPTED


def _plans(
    loaded: Sequence[LoadedScenario], argv: tuple[str, ...], request: InterleavedRequest, environment: Environment
) -> tuple[RunPlan, ...]:
    try:
        own = [with_program(one, argv) for one in loaded]
    except ValueError as error:
        raise CommandError(
            f"--a and --b replace the program of a scenario: {error}", "name scenarios with `driver: {exec: ...}`"
        ) from error
    selection = Selection(only=request.only)
    return plan_all(own, selection, environment, seed=SEED, repeat=request.repeat or REPEAT).plans


def _program(option: str, text: str) -> tuple[str, ...]:
    """The command's words; a program with a `/` counts from the folder in which the command is given."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise CommandError(f"{option} {text}: {error}", "quote it as a shell would take it") from error
    program = str(Path.cwd() / words[0]) if words and "/" in words[0] else words[0] if words else ""
    if not program or shutil.which(program) is None:
        raise CommandError(
            f"{option}: there is no program {words[0] if words else '``'}", "is it executable, or on PATH?"
        )
    return (program, *words[1:])
