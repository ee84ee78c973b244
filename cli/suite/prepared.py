"""A suite before anything starts: its plans, and the environment that will run them."""

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import click

from cli.errors import CommandError
from cli.exit_codes import ExitCode
from cli.suite.json_lines import JsonLineStream
from cli.suite.obtaining import obtain_for
from cli.suite.options import RunOptions
from cli.suite.request import Request
from cli.suite.unavailable import unavailable_error
from cli.terminal.problems import print_problems
from harness.environments.world import Environment, EnvironmentUnavailable
from harness.language import Problems, Scenario
from harness.suggestions import did_you_mean
from harness.suite.collection import collect
from harness.suite.environment_choice import opened
from harness.suite.naming import case_id
from harness.suite.planning import (
    REFUSED,
    Client,
    LoadedScenario,
    Selection,
    SuitePlan,
    load_all,
    plan_all,
    require_real_clients,
)
from harness.suite.runnable import UnrunnableScenario, plan_runnable


@dataclass(frozen=True, slots=True)
class PreparedSuite:
    """An environment and the plans for it; `local_unavailable` says why it is not the one that `auto` prefers.

    `opened` holds the environment open: leaving it ends what is left of its runs.
    """

    opened: ExitStack
    environment: Environment
    suite: SuitePlan
    local_unavailable: EnvironmentUnavailable | None

    @property
    def note(self) -> str | None:
        """Why it is not the environment that a user may expect."""
        if self.local_unavailable is None:
            return None
        return f"sim instead of local: {self.local_unavailable.reason}; {self.local_unavailable.remedy}"


def prepare(request: Request, options: RunOptions, stack: ExitStack) -> PreparedSuite | ExitCode:
    """Check everything before anything starts, and print what is wrong. `stack` closes the environment."""
    local_unavailable: EnvironmentUnavailable | None = None
    try:
        loaded = load_all(collect(request.paths, folder=request.folder), request.settings, request.selection)
        obtain_for(request.environment)
        try:
            environment, local_unavailable = stack.enter_context(opened(request.environment, cells=options.cells))
        except EnvironmentUnavailable as refused:
            drivers = {cell.client.driver for one in loaded for cell in one.scenario.cells}
            bundled = drivers <= {"bundled"} and request.client in (None, "profile")
            raise unavailable_error(refused, can_be_simulated=bundled) from refused
        plan = plan_runnable if options.stream else _plan_whole
        suite, impossible = plan(
            loaded, request.selection, environment, seed=request.seed, repeat=request.repeat, client=request.client
        )
    except Problems as problems:
        print_problems(problems, ci=options.ci)
        if (remedy := _why_simulated(problems, local_unavailable)) is not None:
            click.echo(remedy, err=True)
        return ExitCode.USAGE
    except OSError as error:
        raise CommandError(f"cannot read {error.filename}: {error.strerror}", "check its permissions") from error
    for one in impossible:
        JsonLineStream(sys.stdout).impossible(one, _why_simulated(one.why, local_unavailable))
    if not suite.plans:
        if impossible:
            return ExitCode.INCONCLUSIVE
        names = ", ".join(one.scenario.name for one in loaded) or "none"
        tags = ", ".join(sorted({tag for one in loaded for tag in one.scenario.tags})) or "none"
        if request.selection.cases:
            raise _no_such_case(request.selection.cases, [one.scenario for one in loaded])
        skipped_slow = (
            f"slow, left out on local unless named: {', '.join(suite.skipped_slow)}; " if suite.skipped_slow else ""
        )
        raise CommandError(
            "no scenario was selected: nothing was run",
            f"{skipped_slow}scenarios: {names}; tags: {tags}",
            code=ExitCode.NOTHING_SELECTED,
        )
    return PreparedSuite(stack, environment, suite, local_unavailable)


def _why_simulated(refused: object, local_unavailable: EnvironmentUnavailable | None) -> str | None:
    """Where the user did not ask for the environment that refuses, the remedy is to make the other one run."""
    if local_unavailable is None or not isinstance(refused, Problems):
        return None
    if all(problem.code != REFUSED for problem in refused.problems):
        return None
    return f"sim was taken, as local cannot run here: {local_unavailable.reason}\n  {local_unavailable.remedy}"


def _plan_whole(
    loaded: Sequence[LoadedScenario], selection: Selection, environment: Environment, *, seed: int, repeat: int | None,
    client: Client | None,
) -> tuple[SuitePlan, tuple[UnrunnableScenario, ...]]:  # fmt: skip
    suite = plan_all(loaded, selection, environment, seed=seed, repeat=repeat, client=client)
    require_real_clients(suite.plans)
    return suite, ()


def _no_such_case(asked: Sequence[str], scenarios: Sequence[Scenario]) -> CommandError:
    known = [case_id(one.name, cell.parameters) for one in scenarios for cell in one.cells]
    hint = did_you_mean(asked[0], known) or "faultlab list --json names them"
    return CommandError(f"there is no case {asked[0]}", hint, code=ExitCode.NOTHING_SELECTED)
