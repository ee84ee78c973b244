"""Turns one cell of a scenario into a plan: names looked up, defaults filled in, problems reported."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from client.profiles.contract import Profile
from harness.formulas.scope import Scope, scope_of
from harness.language.bounds import ExpectationContext
from harness.language.clusters import check_bootstrap, cluster_shape
from harness.language.deadlines import report_deadlines
from harness.language.expectations import expectation
from harness.language.formula_library import FormulaLibrary
from harness.language.integrity import check_distinct_values, needs_log
from harness.language.matrix import Cell
from harness.language.schema import MEASURE, STATISTICS, Client, Cluster, Expect, ScenarioFile
from harness.language.send_before_connect import report_send_before_connect
from harness.language.setting_conflicts import expects_refusal
from harness.language.statistics import statistic
from harness.language.steps import ParsedSteps, steps
from harness.language.subjects import client_plan, settings
from harness.language.time_limits import with_time_limits
from harness.language.unfailing import report_unfailing
from harness.language.validation import keys_of, parse_model
from harness.language.yaml.diagnostics import Diagnostics
from harness.language.yaml.tree import MappingNode, SequenceNode, Tree, at, plain
from harness.plan import ClientPlan, ClusterShape, Expectation, PlannedFault, PlannedHealing, RunPlan, Statistic, Step

Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class PlannedExpectations:
    """What is expected of every run, and of all runs of a case together."""

    points: tuple[Expectation, ...]
    statistics: tuple[Statistic, ...]
    placed: tuple[tuple[Expectation | Statistic, Tree], ...]
    """Those without a problem of their own, each with its place in the file."""


def resolve(
    cell: Cell, path: Path, diagnostics: Diagnostics, library: FormulaLibrary, *, unfailing: bool = False
) -> RunPlan | None:
    """The cell as a plan without seed, environment and run_id; None where `diagnostics` has new problems, or
    `library` has any. `unfailing`: an expectation that cannot fail is one.

    Parts without problems are checked further even where others have some, so that all problems are found at once.
    """
    tree = cell.tree
    before = len(diagnostics.problems)
    whole = parse_model(ScenarioFile, tree, diagnostics)
    cluster_model, cluster_tree = _part(Cluster, tree.get("cluster"))
    cluster = cluster_shape(cluster_model, cluster_tree, diagnostics) if cluster_model and cluster_tree else None
    client_model, client_tree = _part(Client, tree.get("client"))
    found = None
    if client_model and client_tree and not _half_known(client_model, client_tree, tree):
        found = client_plan(client_model, client_tree, diagnostics)
    if client_model and client_tree and cluster is not None:
        check_bootstrap(client_model.bootstrap, cluster.brokers, client_tree, diagnostics)
    found_steps = steps(tree.get("steps"), cluster, diagnostics)
    if found is not None and found[1] is not None:
        report_send_before_connect(tree.get("steps"), diagnostics)
        report_deadlines(tree.get("steps"), found[1], diagnostics)
    draft = _draft(tree, cell, path, cluster, found, found_steps, diagnostics)
    problems_elsewhere = len(diagnostics.problems) > before
    expected = _expectations(tree, draft, found[1] if found else None, found_steps, diagnostics, library)
    if whole is None or draft is None or library.problems or problems_elsewhere:
        return None
    plan = replace(draft, expectations=expected.points, statistics=expected.statistics)
    integrity = needs_log(plan, whole)
    if integrity and not check_distinct_values(plan, tree.get("steps"), diagnostics):
        return None
    plan = with_time_limits(replace(plan, integrity=integrity), whole, found_steps.default_patience)
    if unfailing:
        report_unfailing(plan, expected.placed, diagnostics)
    return plan if len(diagnostics.problems) == before else None


def _part(model: type[Model], tree: Tree | None) -> tuple[Model | None, Tree | None]:
    """The part if it is valid apart from unknown keys. Its problems were reported with the whole file."""
    if isinstance(tree, MappingNode):
        known = keys_of(model, ())
        tree = MappingNode({key: entry for key, entry in tree.entries.items() if key in known}, tree.span)
    try:
        return (model.model_validate(plain(tree)), tree) if tree is not None else (None, None)
    except ValidationError:
        return None, tree


def _half_known(client: Client, part: Tree, tree: MappingNode) -> bool:
    """Whether an unknown key of the client may be the missing one, misspelt: that is one problem, not two."""
    whole = tree.get("client")
    bundled = client.profile is not None and client.version is not None
    return whole is not None and plain(part) != plain(whole) and not bundled and client.driver is None


def _draft(
    tree: MappingNode, cell: Cell, path: Path, cluster: ClusterShape | None,
    found: tuple[ClientPlan, Profile | None] | None, found_steps: ParsedSteps, diagnostics: Diagnostics,
) -> RunPlan | None:  # fmt: skip
    if found is None:
        return None
    client, profile = found
    given = tree.get("settings")
    named = settings(
        given, profile, client.version, diagnostics,
        refused=expects_refusal(found_steps.steps), authenticated=cluster is None or bool(cluster.sasl),
    )  # fmt: skip
    return RunPlan(
        run_id="", scenario="", path=path, about="", tags=(), environment="", client=client, settings=named,
        given_settings=tuple(given.entries) if isinstance(given, MappingNode) else (), parameters=cell.parameters,
        cluster=cluster or ClusterShape(brokers=1), steps=found_steps.steps, expectations=(), seed=0, repeat=1,
    )  # fmt: skip


def _expectations(
    tree: MappingNode,
    draft: RunPlan | None,
    profile: Profile | None,
    found_steps: ParsedSteps,
    diagnostics: Diagnostics,
    library: FormulaLibrary,
) -> PlannedExpectations:
    listed = tree.get("expect")
    items = listed.items if isinstance(listed, SequenceNode) else ()
    scope: Scope | None = scope_of(draft, profile) if draft is not None else None
    sound = {getattr(step, "alias", "") for step in found_steps.steps if not isinstance(step, PlannedHealing)}
    context = ExpectationContext(
        aliases=found_steps.aliases,
        library=library,
        diagnostics=diagnostics,
        plan=draft,
        scope=scope,
        invalid_aliases=frozenset(set(found_steps.aliases) - sound),
        healed=_healed(found_steps.steps),
    )
    points: list[Expectation] = []
    statistics: list[Statistic] = []
    placed: list[tuple[Expectation | Statistic, Tree]] = []
    for item in items:
        model, part = _part(Expect, item)
        if model is not None and part is not None:
            before = len(diagnostics.problems)
            made = _expected(model, part, context, complete=plain(part) == plain(item))
            if isinstance(made, Expectation):
                points.append(made)
            elif made is not None:
                statistics.append(made)
            if made is not None and len(diagnostics.problems) == before:
                placed.append((made, item))
    return PlannedExpectations(tuple(points), tuple(statistics), tuple(placed))


def _expected(
    model: Expect, tree: Tree, context: ExpectationContext, *, complete: bool
) -> Expectation | Statistic | None:
    """The expectation of one entry: of every run, or of all runs together."""
    given = [key for key in (MEASURE, *STATISTICS) if getattr(model, key) is not None]
    if len(given) == 1:
        kind = next((kind for kind in STATISTICS if kind == given[0]), None)
        if kind is None:
            return expectation(model, tree, context, complete=complete)
        return statistic(model, kind, tree, context, complete=complete)
    if given or complete:
        where = at(tree, (given[1],), key=True) if given else tree.span
        message = f"{' and '.join(given)} at once" if given else "nothing says what is expected to be so"
        context.diagnostics.add(where, "missing-key", message, f"write one of {', '.join((MEASURE, *STATISTICS))}")
    return None


def _healed(found: tuple[Step, ...]) -> frozenset[str]:
    """The faults that end before the run does."""
    by_hand = {step.alias for step in found if isinstance(step, PlannedHealing)}
    return frozenset(
        by_hand | {step.alias for step in found if isinstance(step, PlannedFault) and step.for_s is not None}
    )
