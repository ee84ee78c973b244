"""One suite from its request to its exit code: planned, run under a display, read back from its folder, and shown."""

import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

import click
from rich.console import Console
from rich.text import Text

from cli import named_paths
from cli.ci import Annotation
from cli.closing import Closed, document, replay_command, show
from cli.console import annotate, console, grouped
from cli.diagnostics import say_problems
from cli.errors import Stop
from cli.exits import Exit, exit_of
from cli.manifests import begun_now
from cli.places import free_folder
from cli.request import Request
from cli.show import groups
from cli.show.figures import many, seconds
from cli.show.live import Display
from cli.show.rows import folded
from cli.streaming import Stream
from cli.telling import case_documents
from harness.environments.world import Environment, EnvironmentUnavailable
from harness.expectations import judge
from harness.expectations.together import applies
from harness.language import Problems, Scenario
from harness.language.problems import did_you_mean
from harness.plan import ClientPlan, Named, RunPlan
from harness.records.reader import Results, read
from harness.records.run import RunRecord
from harness.records.writer import Writer
from harness.suite.choosing import choose
from harness.suite.collection import collect
from harness.suite.grouping import judge_groups
from harness.suite.machine import stamp
from harness.suite.naming import case_id
from harness.suite.planning import REFUSED, Client, Loaded, Planned, Selection, load_all, plan_all, require_real_clients
from harness.suite.possible import Impossible, plan_possible
from harness.suite.progress import at_most
from harness.suite.resuming import by_prefix, planned, remaining
from harness.suite.runner import Observer, Runner

OTHERWISE = ", or choose "
"""What stands between the remedy for an environment that cannot run and the way to do without it."""

CI = (
    click.Option(["--ci"], is_flag=True, help="For CI: groups, annotations, a summary, JUnit XML; nothing moves."),
    click.Option(["--junit"], type=named_paths.FILE, metavar="FILE", help="Write JUnit XML there too."),
)
"""What a CI system asks of a suite."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How a suite is run and shown: nothing that changes which runs it has.

    `quoted`: what is said is a part of another command's log, which judges by itself: nothing of it is annotated.
    """

    json: bool
    everything: bool
    cells: int | None
    report: bool
    stream: bool = False
    ci: bool = False
    quoted: bool = False
    junit: Path | None = None

    def screen(self) -> Console:
        """Where it is shown."""
        return console(json=self.json, ci=self.ci, quoted=self.quoted)

    def junit_files(self, folder: Path) -> tuple[Path, ...]:
        """Where JUnit XML goes: where it was asked for, and in CI beside the results."""
        beside = (folder / "junit.xml",) if self.ci else ()
        return (*beside, self.junit) if self.junit is not None else beside


@dataclass(frozen=True, slots=True)
class Prepared:
    """An open environment and the plans for it; `instead` says why it is not the one that `auto` prefers."""

    environment: Environment
    suite: Planned
    instead: EnvironmentUnavailable | None

    @property
    def note(self) -> str | None:
        """Why it is not the environment that one might expect."""
        if self.instead is None:
            return None
        return f"sim instead of local: {self.instead.reason}; {self.instead.remedy}"


def begin(request: Request, out: Path | None, manner: Manner) -> Exit:
    """A new suite."""
    started = time.monotonic()
    prepared = _prepare(request, manner)
    if isinstance(prepared, Exit):
        return prepared
    return _new(request, prepared, prepared.suite.plans, out, manner, started)


def go_on(folder: Path, manner: Manner) -> Exit:
    """The rest of an interrupted suite, in its own folder."""
    started = time.monotonic()
    results = read(folder)
    prepared = _prepare(Request.again(results.manifest), manner)
    if isinstance(prepared, Exit):
        return prepared
    try:
        plans = planned(results, prepared.suite.plans)
        left = remaining(results, plans)
        kept = [(run.run_id, run.attempt) for run in results.tries]
        writer = Writer.reopen(folder, results.manifest, kept=kept)
    except BaseException:
        prepared.environment.close()
        raise
    ids = {plan.run_id for plan in left}
    already = [run for run in results.runs if run.run_id not in ids]
    screen = manner.screen()
    screen.print(f"going on with {folder}: {len(already)} of {many(len(plans), 'run')} were measured before")
    return _carry_out(prepared, left, plans, already, writer, screen, manner, started)


def again(
    results: Results, prefix: str, out: Path | None, manner: Manner, *, extent: Literal["run", "group"] = "run"
) -> Exit:
    """The one run of a suite whose id begins with `prefix`, or all repeats of its case, in a new folder."""
    started = time.monotonic()
    request = Request.again(results.manifest)
    prepared = _prepare(request, manner)
    if isinstance(prepared, Exit):
        return prepared
    planned = [run_id for run_id in results.manifest.run_ids if run_id.startswith(prefix.lower())]
    found = by_prefix(prepared.suite.plans, planned[0] if len(planned) == 1 else prefix)
    if len(found) != 1:
        prepared.environment.close()
        if len(found) > 1:
            raise Stop(f"{many(len(found), 'run')} begin with {prefix}: {', '.join(p.run_id for p in found)}")
        told = next((run.scenario for run in results.runs if run.run_id in planned), "its scenario")
        raise Stop(
            f"run {planned[0]} of {results.folder.path} is no more: {told} changed since",
            "undo the change, or run the scenario as it is now with faultlab run",
        )
    (one,) = found
    repeats = tuple(p for p in prepared.suite.plans if _case(p) == _case(one))
    if extent == "group":
        return _new(request, prepared, repeats, out, manner, started)
    over_all = [groups.called(statistic) for statistic in one.statistics if applies(one, statistic)]
    if over_all and len(repeats) > 1:
        manner.screen().print(_over_all(over_all, len(repeats), replay_command(one.run_id, results, extent="group")))
    return _new(request, prepared, found, out, manner, started)


def _case(plan: RunPlan) -> tuple[str, ClientPlan, tuple[Named, ...]]:
    return plan.scenario, plan.client, plan.parameters


def _over_all(statistics: Sequence[str], repeats: int, command: str) -> Text:
    """What a single run does not show, and the command that does."""
    what, verb = (statistics[0], "is") if len(statistics) == 1 else (", ".join(statistics), "are")
    return folded(
        f"{what} {verb} held against all {repeats} repeats, not against one run; run them all again: {command}",
        lead="", style="yellow",
    )  # fmt: skip


def _prepare(request: Request, manner: Manner) -> Prepared | Exit:
    """Everything that can be wrong, before anything starts; what is, is said here."""
    instead: EnvironmentUnavailable | None = None
    try:
        loaded = load_all(collect(request.paths, folder=request.folder), request.settings, request.selection)
        environment, instead = choose(request.environment, cells=manner.cells)
        plan = partial(
            plan_possible if manner.stream else _plan_whole, loaded, request.selection, environment,
            seed=request.seed, repeat=request.repeat, client=request.client,
        )  # fmt: skip
        try:
            suite, impossible = plan()
        except BaseException:
            environment.close()
            raise
    except Problems as problems:
        say_problems(problems, ci=manner.ci)
        if instead is not None and any(problem.code == REFUSED for problem in problems.problems):
            # Nobody asked for the environment that refuses: what keeps the other one away is what to mend.
            remedy = instead.remedy.partition(OTHERWISE)[0]
            click.echo(f"sim was taken, as local cannot run here: {instead.reason}\n  {remedy}", err=True)
        return Exit.USAGE
    except OSError as error:
        raise Stop(f"cannot read {error.filename}: {error.strerror}", "check its permissions") from error
    for one in impossible:
        Stream(sys.stdout).impossible(one)
    if not suite.plans:
        environment.close()
        if impossible:
            return Exit.INCONCLUSIVE
        names = ", ".join(one.scenario.name for one in loaded) or "none"
        tags = ", ".join(sorted({tag for one in loaded for tag in one.scenario.tags})) or "none"
        if request.selection.cases:
            raise _no_such_case(request.selection.cases, [one.scenario for one in loaded])
        left_out = f"slow, left out on local unless named: {', '.join(suite.left_out)}; " if suite.left_out else ""
        raise Stop(
            "no scenario was selected: nothing was run",
            f"{left_out}scenarios: {names}; tags: {tags}",
            code=Exit.NOTHING,
        )
    return Prepared(environment, suite, instead)


def _plan_whole(
    loaded: Sequence[Loaded], selection: Selection, environment: Environment, *, seed: int, repeat: int | None,
    client: Client | None,
) -> tuple[Planned, tuple[Impossible, ...]]:  # fmt: skip
    suite = plan_all(loaded, selection, environment, seed=seed, repeat=repeat, client=client)
    require_real_clients(suite.plans)
    return suite, ()


def _no_such_case(asked: Sequence[str], scenarios: Sequence[Scenario]) -> Stop:
    known = [case_id(one.name, cell.parameters) for one in scenarios for cell in one.cells]
    hint = did_you_mean(asked[0], known) or "faultlab list --json names them"
    return Stop(f"there is no case {asked[0]}", hint, code=Exit.NOTHING)


def _new(
    request: Request, prepared: Prepared, plans: Sequence[RunPlan], out: Path | None, manner: Manner, started: float
) -> Exit:
    folder = out if out is not None else free_folder(stamp())
    chosen = replace(request, environment=prepared.environment.name)
    manifest = begun_now(
        folder.name, plans, environment=chosen.environment, seed=request.seed, arguments=chosen.arguments(),
        folder=request.folder,
    )  # fmt: skip
    try:
        writer = Writer.create(folder, manifest)
    except BaseException:
        prepared.environment.close()
        raise
    return _carry_out(prepared, plans, plans, (), writer, manner.screen(), manner, started)


def _carry_out(
    prepared: Prepared,
    left: Sequence[RunPlan],
    plans: Sequence[RunPlan],
    already: Sequence[RunRecord],
    writer: Writer,
    screen: Console,
    manner: Manner,
    started: float,
) -> Exit:
    environment = prepared.environment
    lanes = min(environment.lanes, manner.cells or environment.lanes)
    for line in _head(prepared, plans, left, lanes=lanes, seed=writer.manifest.seed):
        screen.print(line)
    if prepared.instead is not None:
        why = f"{prepared.instead.reason}; {prepared.instead.remedy}"
        annotate(screen, Annotation(level="warning", title="sim-instead-of-local", message=why))
    stream = Stream(sys.stdout) if manner.stream else None
    if stream is not None:
        stream.line("begun", {"environment": environment.name, "note": prepared.note, "runs": len(left)})
    with writer, grouped(screen, "the runs"), Display(screen, left, lanes=lanes, already=already) as display:
        observer: Observer = display
        if stream is not None:
            observer = stream.following(display, writer, plans, prepared.suite.plans, already)
        complete = Runner(environment, judge, writer, observer, lanes=lanes).run(left)
        results = read(writer.folder.path)
        interrupted = not complete and bool(remaining(results, plans))
        if not interrupted:
            groups = judge_groups(prepared.suite.plans, results.runs)
            writer.write_groups(groups)
            results = replace(results, groups=groups)
    verdicts = [run.verdict for run in results.runs]
    verdicts += [group.verdict for group in results.groups if group.verdict != "skipped"]
    code = Exit.INTERRUPTED if interrupted else exit_of(verdicts)
    closed = Closed(
        results=results, plans={plan.run_id: plan for plan in plans}, elapsed_s=time.monotonic() - started, exit=code
    )
    code = show(
        screen, closed, everything=manner.everything, report=manner.report and not interrupted,
        junit=manner.junit_files(writer.folder.path),
    )  # fmt: skip
    if manner.json:
        told = document(closed, code, case_documents(closed))
        if stream is not None:
            stream.line("suite", told)
        else:
            sys.stdout.write(json.dumps(told, indent=2) + "\n")
    return code


def _head(
    prepared: Prepared, plans: Sequence[RunPlan], left: Sequence[RunPlan], *, lanes: int, seed: int
) -> list[Text]:
    """What is about to happen, in two lines, and why it is not what one might think."""
    lines: list[Text] = []
    environment, suite = prepared.environment, prepared.suite
    if prepared.note is not None:
        lines.append(folded(prepared.note, lead="", style="yellow"))
    scenarios = len({plan.scenario for plan in plans})
    lines.append(
        Text(
            f"{many(scenarios, 'scenario')}, {many(len(plans), 'run')}, {environment.name}, "
            f"{many(lanes, 'cell')}, seed {seed}"
        )
    )
    lengths = [plan.expected_s for plan in left]
    longest = max((length for length in lengths if length is not None), default=None)
    keeps = "Ctrl-C keeps what was measured"
    if environment.name == "sim" or longest is None:
        lines.append(Text(keeps if longest is None else f"longest {seconds(longest)} by formula, simulated; {keeps}"))
    else:
        bound = at_most(lengths, lanes=lanes)
        most = "" if bound is None else f", at most {seconds(bound)}"
        lines.append(Text(f"longest {seconds(longest)} by formula{most}; {keeps}"))
    if suite.left_out:
        names = ", ".join(suite.left_out)
        lines.append(folded(f"left out as slow: {names} (--tag slow)", lead="", style="dim"))
    lines.append(Text())
    return lines
