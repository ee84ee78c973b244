"""What can be explained: the scenarios that cite a named formula of a time, each with the fault that it injects.

They are found, not listed. A formula says what a time is made of; the scenario that cites it makes that time happen, so
that everything said of the formula can be tried.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.formulas.distribution import NamedDistribution
from harness.formulas.named import NamedFormula, cited
from harness.language.formulas_file import FORMULAS_FILE, load_distributions, load_formulas
from harness.language.matrix import cells
from harness.language.yaml.diagnostics import Diagnostics
from harness.language.yaml.files import SCENARIO_SUFFIX, text_of
from harness.language.yaml.problems import Problems
from harness.language.yaml.tree import InvalidYaml, MappingNode, ScalarNode, SequenceNode, Tree, parse
from harness.measures import parse as parse_measure

SLOW = "slow"
BOOTSTRAP = "bootstrap"
"""What a bootstrap list with dead addresses in it is called: no fault that a scenario injects, it is there before."""
TIMES = ("time_to_error", "time_to_ack", "time_to_end")


@dataclass(frozen=True, slots=True)
class CitedFormula:
    """A named formula, the measure that it is expected of, and the place of that expectation in the scenario."""

    formula: NamedFormula
    measure: str
    index: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainableCase:
    """A scenario that cites formulas of times. `client` is a profile's name, `faults` are those that it injects.

    `tree` is the scenario as its matrix' first cell has it; `cells` counts them all.
    """

    path: Path
    name: str
    scenario: str
    client: str
    about: str
    faults: tuple[str, ...]
    tags: tuple[str, ...]
    tree: MappingNode
    cells: int
    cited: tuple[CitedFormula, ...]

    @property
    def brokers(self) -> int:
        return int(_text(self.tree.get("cluster"), "brokers") or 1)

    @property
    def settings(self) -> dict[str, str]:
        """What the scenario sets, as written."""
        there = self.tree.get("settings")
        names = there.entries if isinstance(there, MappingNode) else {}
        return {name: _text(there, name) for name in names}

    @property
    def addresses(self) -> tuple[str, ...]:
        """The bootstrap list as written: numbers of brokers, and words for addresses of nobody."""
        client = self.tree.get("client")
        listed = client.get("bootstrap") if isinstance(client, MappingNode) else None
        return tuple(item.text for item in _items(listed) if isinstance(item, ScalarNode)) or ("1",)

    @property
    def at_start(self) -> bool:
        """Whether the fault is there before the client is."""
        return next(iter(_items(self.tree.get("steps"))), None) in _injecting(self.tree)

    def rank(self, formula: NamedFormula, order: Mapping[str, int]) -> tuple[bool, bool, int, int, str]:
        """What comes first explains a fault: what is not slow, what befalls a client that worked before, the formula
        that its file has first, and of several scenarios the one that tries it under the most parameters."""
        return (SLOW in self.tags, self.at_start, order[formula.name], -self.cells, self.name)


@dataclass(frozen=True, slots=True)
class ChanceCase:
    """A scenario whose outcome chance decides, and the distribution that says how."""

    case: ExplainableCase
    distribution: NamedDistribution


@dataclass(frozen=True, slots=True)
class CaseCatalogue:
    """The cases of one folder, and the place of each formula in its file."""

    cases: tuple[ExplainableCase, ...]
    order: Mapping[str, int]
    by_chance: tuple[ChanceCase, ...] = ()

    def chance_cases_for(self, word: str) -> tuple[ChanceCase, ...]:
        """The cases that chance decides and that go by this name, or have this fault; `bootstrap` are those without."""
        return tuple(
            one
            for one in self.by_chance
            if word in (*(one.case.faults or (BOOTSTRAP,)), one.distribution.name, one.case.name, one.case.scenario)
        )

    @property
    def faults(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(fault for case in self.ranked() for fault in case.faults))

    def cases_for(self, fault_or_case: str) -> tuple[ExplainableCase, ...]:
        """The cases of a fault, else the one that goes by this name: short, or the scenario's."""
        return tuple(case for case in self.cases if fault_or_case in case.faults) or tuple(
            case for case in self.cases if fault_or_case in (case.name, case.scenario)
        )

    def ranked(self) -> tuple[ExplainableCase, ...]:
        """Best first; each counts by the first of its formulas."""
        return tuple(sorted(self.cases, key=lambda case: min(case.rank(c.formula, self.order) for c in case.cited)))


def case_catalogues(root: Path) -> dict[str, CaseCatalogue]:
    """What can be explained of each client whose scenarios are below `root`. Raises Problems."""
    together: dict[str, list[ExplainableCase]] = {}
    drawn: dict[str, list[ChanceCase]] = {}
    orders: dict[str, dict[str, int]] = {}
    for file in sorted(root.rglob(FORMULAS_FILE)):
        formulas = load_formulas(file)
        by_scenario = {one.scenario: one for one in load_distributions(file).values()}
        for case in _cases(file.parent, formulas):
            if case.scenario in by_scenario:
                drawn.setdefault(case.client, []).append(ChanceCase(case, by_scenario[case.scenario]))
            if not case.faults or not case.cited:
                continue
            together.setdefault(case.client, []).append(case)
            order = orders.setdefault(case.client, {})
            for name in formulas:
                order.setdefault(name, len(order))
    clients = sorted({*together, *drawn})
    return {
        client: CaseCatalogue(
            tuple(together.get(client, ())), orders.get(client, {}), by_chance=tuple(drawn.get(client, ()))
        )
        for client in clients
    }


def _cases(folder: Path, formulas: Mapping[str, NamedFormula]) -> Iterator[ExplainableCase]:
    """Every scenario with a profile."""
    for path in sorted(folder.glob(f"*{SCENARIO_SUFFIX}")):
        source = text_of(path)
        try:
            tree, problems = parse(source, path)
        except InvalidYaml as error:
            raise Problems(error.problems, {path: source}) from error
        if problems:
            raise Problems(problems, {path: source})
        if isinstance(tree, MappingNode):
            case = _case(path, tree, formulas)
            if case is not None:
                yield case


def _case(path: Path, tree: MappingNode, formulas: Mapping[str, NamedFormula]) -> ExplainableCase | None:
    """None for a scenario whose client has no profile."""
    profile = _text(tree.get("client"), "profile")
    faults = tuple(dict.fromkeys(_text(step, "inject") for step in _injecting(tree)))
    if not profile:
        return None
    every = cells(tree, Diagnostics(path))
    return ExplainableCase(
        path=path,
        name=path.name.removesuffix(SCENARIO_SUFFIX),
        scenario=_text(tree, "scenario"),
        client=profile,
        about=_text(tree, "about"),
        faults=faults,
        tags=tuple(str(tag.value) for tag in _items(tree.get("tags")) if isinstance(tag, ScalarNode)),
        tree=every[0].tree,
        cells=len(every),
        cited=tuple(_cited(tree, formulas)),
    )


def _cited(tree: MappingNode, formulas: Mapping[str, NamedFormula]) -> Iterator[CitedFormula]:
    for index, item in enumerate(_items(tree.get("expect"))):
        name, measure = cited(_text(item, "equals")), _text(item, "measure")
        if name is not None and name in formulas and _is_time(measure):
            yield CitedFormula(formulas[name], measure, index)


def _injecting(tree: MappingNode) -> tuple[Tree, ...]:
    return tuple(step for step in _items(tree.get("steps")) if _text(step, "inject"))


def _is_time(measure: str) -> bool:
    try:
        return parse_measure(measure).measure in TIMES
    except ValueError:
        return False


def _items(tree: Tree | None) -> Iterable[Tree]:
    return tree.items if isinstance(tree, SequenceNode) else ()


def _text(tree: Tree | None, key: str) -> str:
    value = tree.get(key) if isinstance(tree, MappingNode) else None
    return value.text if isinstance(value, ScalarNode) else ""
