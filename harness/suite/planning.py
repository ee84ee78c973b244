"""From scenario files to a suite's plans: everything wrong with any of them is reported before anything starts."""

import fnmatch
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from harness.environments.world import Environment, Unsupported
from harness.language import Problem, Problems, Scenario, load, plans
from harness.language.loader import NO_SETTINGS
from harness.plan import PlannedFault, RunPlan
from harness.realclients import RealClientMissing, real_client
from harness.suite.collection import FoundScenario
from harness.suite.naming import case_id
from harness.suite.problem_collector import ProblemCollector

REFUSED = "refused-by-environment"
"""A file that one environment refuses is not wrong: another environment may run it."""

SLOW = "slow"
"""The tag of scenarios that are left out unless asked for, except on virtual time, where they cost nothing."""


Client = Literal["profile", "real", "both"]
CLIENTS: tuple[Client, ...] = ("profile", "real", "both")
"""Who is run where a scenario names a profile: the bundled client in its manner, the library itself, or each."""


@dataclass(frozen=True, slots=True)
class LoadedScenario:
    """A scenario whose file is valid, and whether it was asked for by name."""

    scenario: Scenario
    named: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which of the scenarios are run. `only` are names (shell patterns too), `tags` ask for any of them, `cases` are
    cases by their ids; empty: all."""

    only: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()

    def matches(self, scenario: Scenario) -> bool:
        if self.cases and not self.with_selected_cases(scenario).cells:
            return False
        named = not self.only or any(fnmatch.fnmatchcase(scenario.name, pattern) for pattern in self.only)
        return named and (not self.tags or not set(self.tags).isdisjoint(scenario.tags))

    def with_selected_cases(self, scenario: Scenario) -> Scenario:
        """The scenario with none but the cases that are asked for."""
        if not self.cases:
            return scenario
        wanted = set(self.cases)
        cells = tuple(cell for cell in scenario.cells if case_id(scenario.name, cell.parameters) in wanted)
        return replace(scenario, cells=cells)

    def selects_explicitly(self, loaded: LoadedScenario) -> bool:
        """Whether a slow scenario was meant in particular."""
        return loaded.named or bool(self.cases) or SLOW in self.tags or loaded.scenario.name in self.only


EVERYTHING = Selection()


@dataclass(frozen=True, slots=True, kw_only=True)
class SuitePlan:
    """The runs of a suite in the order of planning, and the slow scenarios that were left out."""

    plans: tuple[RunPlan, ...]
    scenarios: tuple[Scenario, ...]
    skipped_slow: tuple[str, ...]


def load_all(
    found: Iterable[FoundScenario], settings: Mapping[str, str] = NO_SETTINGS, selection: Selection = EVERYTHING
) -> tuple[LoadedScenario, ...]:
    """Load every file. Raises Problems with everything that is wrong in any of them.

    `settings` replace or add to those of every scenario that is selected.
    """
    loaded, problems = load_each(found, settings, selection)
    if problems is not None:
        raise problems
    return loaded


def load_each(
    found: Iterable[FoundScenario], settings: Mapping[str, str] = NO_SETTINGS, selection: Selection = EVERYTHING
) -> tuple[tuple[LoadedScenario, ...], Problems | None]:
    """What is right, and all that is wrong with the others. Of two files with one name, both are loaded."""
    loaded: list[LoadedScenario] = []
    wrong = ProblemCollector()
    for one in found:
        try:
            loaded.append(LoadedScenario(_loaded(one.path, settings, selection), one.named))
        except Problems as problems:
            wrong.add(problems)
    wrong.extend(_duplicate_names([one.scenario for one in loaded]))
    return tuple(loaded), wrong.combined()


def _loaded(path: Path, settings: Mapping[str, str], selection: Selection) -> Scenario:
    """What is given may be wrong for a scenario that is not run: then it stays as its file has it."""
    try:
        return load(path, settings)
    except Problems:
        unmodified = _load_unmodified(path) if settings else None
        if unmodified is None or selection.matches(unmodified):
            raise
        return unmodified


def _load_unmodified(path: Path) -> Scenario | None:
    try:
        return load(path)
    except Problems:
        return None


def select(
    loaded: Sequence[LoadedScenario], selection: Selection, *, skip_slow: bool
) -> tuple[list[Scenario], list[str]]:
    """The scenarios that are run, and the names of the slow ones that are left out."""
    taken = [one for one in loaded if selection.matches(one.scenario)]
    slow = [one for one in taken if skip_slow and SLOW in one.scenario.tags and not selection.selects_explicitly(one)]
    skipped_slow = [one.scenario.name for one in slow]
    return [one.scenario for one in taken if one.scenario.name not in skipped_slow], skipped_slow


def plan_all(
    loaded: Sequence[LoadedScenario], selection: Selection, environment: Environment, *, seed: int, repeat: int | None,
    client: Client | None = None,
) -> SuitePlan:  # fmt: skip
    """Every run of the selected scenarios. Raises Problems, also for levers that the environment refuses.

    `client` says whether profiles or the libraries themselves are run, None: as each scenario says.
    """
    scenarios, skipped_slow = select(loaded, selection, skip_slow=not environment.virtual_time)
    scenarios = [with_client(selection.with_selected_cases(scenario), client) for scenario in scenarios]
    planned: list[RunPlan] = []
    wrong = ProblemCollector()
    for scenario in scenarios:
        try:
            of_scenario = plans(scenario, environment=environment.name, seed=seed, repeat=repeat)
        except Problems as problems:
            wrong.add(problems)
            continue
        wrong.extend(unsupported_by(of_scenario, environment))
        planned += of_scenario
    wrong.raise_any()
    return SuitePlan(plans=tuple(planned), scenarios=tuple(scenarios), skipped_slow=tuple(skipped_slow))


def with_client(scenario: Scenario, client: Client | None) -> Scenario:
    """The scenario with its profile, with the library in the profile's place, or with one after the other; a program
    of the user's stays."""
    if client is None:
        return scenario
    reals = {"profile": (False,), "real": (True,), "both": (False, True)}[client]
    cells = [
        cell if cell.client.profile is None else replace(cell, client=replace(cell.client, real=real))
        for cell in scenario.cells
        for real in (reals if cell.client.profile is not None else reals[:1])
    ]
    return replace(scenario, cells=tuple(cells))


def require_real_clients(plans: Iterable[RunPlan]) -> None:
    """Raises RealClientMissing where a plan needs one that is not built, with the command that builds all of them."""
    wanted = dict.fromkeys((plan.client.name, plan.client.version) for plan in plans if plan.client.driver == "real")
    missing = [str(real) for real in (real_client(name, version) for name, version in wanted) if not real.built]
    if missing:
        verb = "is" if len(missing) == 1 else "are"
        raise RealClientMissing(
            f"the real {', '.join(missing)} {verb} not built", f"faultlab clients build {' '.join(missing)}"
        )


def unsupported_by(of_scenario: Sequence[RunPlan], environment: Environment) -> Iterator[Problem]:
    """What of these plans the environment cannot do, each once."""
    seen: set[tuple[Path, int, str]] = set()
    for plan in of_scenario:
        for line, reason in _refused(plan, environment):
            if (plan.path, line, reason) not in seen:
                seen.add((plan.path, line, reason))
                yield _at_line(plan.path, line, REFUSED, f"{environment.name} cannot {reason}")


def _refused(plan: RunPlan, environment: Environment) -> Iterator[tuple[int, str]]:
    supports_cluster = environment.supports_cluster(plan.cluster.kind)
    if isinstance(supports_cluster, Unsupported):
        yield 0, supports_cluster.reason
        return
    supports_driver = environment.supports_driver(plan.client.driver)
    if isinstance(supports_driver, Unsupported):
        yield 0, supports_driver.reason
    elif plan.client.driver == "real":
        try:
            real_client(plan.client.name, plan.client.version)
        except RealClientMissing as missing:
            yield 0, f"run it: {missing}"
    for step in plan.steps:
        if isinstance(step, PlannedFault):
            levers = [stage.lever for stage in step.fault.stages(plan.cluster.view())]
            for lever in (*levers, *([] if step.trigger is None else [step.trigger.intercept])):
                made = environment.supports(lever, plan.cluster.kind)
                if isinstance(made, Unsupported):
                    yield step.line, made.reason


def _duplicate_names(scenarios: Sequence[Scenario]) -> Iterator[Problem]:
    """Runs are known by their scenario's name: two files cannot share one."""
    first: dict[str, Path] = {}
    for scenario in scenarios:
        if scenario.name in first:
            message = f"scenario {scenario.name} is also in {first[scenario.name]}"
            yield _at_line(scenario.path, 0, "duplicate-scenario", message, pattern=r"scenario\s*:")
        first.setdefault(scenario.name, scenario.path)


def _at_line(path: Path, line: int, code: str, message: str, *, pattern: str = r"client\s*:") -> Problem:
    """A problem of a whole line; line 0: the first that begins with `pattern`."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    if line == 0:
        line = next((n for n, text in enumerate(lines, start=1) if re.match(pattern, text)), 1)
    text = lines[line - 1] if line <= len(lines) else ""
    column = len(text) - len(text.lstrip()) + 1
    return Problem(path, line, column, max(1, len(text.strip())), code, message)
