"""A matrix of agreement: the suites of its sides are run one after the other, and judged together."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console
from rich.text import Text

from cli.errors import CommandError
from cli.exit_codes import ExitCode
from cli.show.formatting import pluralized
from cli.show.live import Display
from cli.show.rows import wrapped
from cli.suite.manifest import new_manifest
from cli.suite.obtaining import obtain_for
from cli.suite.request import Request
from harness.agreement import (
    SIDES,
    agreement_cases,
    evaluate_agreement,
    runs_needed_by_case,
)
from harness.environments.world import Environment
from harness.judging import judge
from harness.plan import RunPlan
from harness.records.agreement import Agreement, AgreementRecord, Side
from harness.records.case_key import CaseKey, case_key
from harness.records.folder import ResultsFolder
from harness.records.line import encode_line
from harness.records.reader import read
from harness.records.run import RunRecord
from harness.records.short_names import parameters_text
from harness.records.writer import Writer
from harness.suite.collection import collect
from harness.suite.environment_choice import make
from harness.suite.planning import Client, load_all, plan_all, require_real_clients
from harness.suite.runner import Runner

HEADLINES: dict[Agreement, str] = {
    "differs": "DIFFERS", "unsure": "NOT ENOUGH RUNS", "explained": "EXPLAINED", "agrees": "AGREES"
}  # fmt: skip
"""The verdict on a matrix, by the worst outcome of its rows; the worst first."""
WORDS: dict[Agreement, str] = {
    "differs": "different", "unsure": "not certain", "explained": "explained", "agrees": "agree"
}  # fmt: skip
LOOKS = 2
"""Once with the runs that were asked for, and once more where they were too few."""


class SuiteInterrupted(Exception):
    """A signal stopped a suite; what was measured is kept in its folder."""


@dataclass(frozen=True, slots=True)
class AgreementMatrix:
    """What was compared, and the results folders that it was read from."""

    records: tuple[AgreementRecord, ...]
    folders: tuple[Path, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixRequest:
    """A matrix as it was asked for: `most` runs a side at the later of its `looks`, `cells` side by side."""

    request: Request
    sides: tuple[Side, ...]
    out: Path
    most: int
    cells: int | None
    looks: int = LOOKS


def measure(screen: Console, asked: MatrixRequest, *, earlier: Sequence[Path] = ()) -> AgreementMatrix:
    """Run every side, look, and look again with more runs where they were too few.

    Runs in the results folders `earlier` are not made again, but for those that the lab ended. Raises Problems,
    CommandError, SuiteInterrupted, RealClientMissing, EnvironmentUnavailable, ResultsUnwritable.
    """
    folders: list[Path] = []
    with ExitStack() as stack:
        # Before any run is read: cells are forks of this process, and take the longer the more it holds.
        names = dict.fromkeys(SIDES[side].environment for side in asked.sides)
        environments = [stack.enter_context(opened(name, cells=asked.cells)) for name in names]
        runs = [run for folder in earlier for run in read(folder).runs if run.verdict != "lab_error"]
        for look in range(1, asked.looks + 1):
            records = evaluate_agreement(agreement_cases(runs, asked.sides), looks=asked.looks)
            last_look = look == asked.looks
            needed = runs_needed_by_case(records, most=asked.most, last_look=last_look) if look > 1 else None
            for environment in environments:
                name = environment.name + ("-more" if look > 1 else "") + (f"-{look - 1}" if look > 2 else "")
                made = {run.run_id for run in runs}
                found = run_suite(screen, asked, environment, asked.out / name, needed=needed, made=made)
                runs += found
                folders += [asked.out / name] if found else []
    records = evaluate_agreement(agreement_cases(runs, asked.sides), looks=asked.looks)
    return AgreementMatrix(records, (*folders, *earlier))


def read_matrix(folders: Sequence[Path], sides: Iterable[Side]) -> AgreementMatrix:
    """The matrix of runs that were made before. Raises ResultsUnreadable."""
    runs = {run.run_id: run for folder in folders for run in read(folder).runs}
    return AgreementMatrix(evaluate_agreement(agreement_cases(runs.values(), sides), looks=LOOKS), tuple(folders))


def write_matrix(matrix: AgreementMatrix) -> Path:
    """agreement.jsonl, in the first of the results folders. Raises CommandError where it cannot be written."""
    file = ResultsFolder(matrix.folders[0]).agreement
    try:
        file.write_bytes(b"".join(encode_line(record) for record in matrix.records))
    except OSError as error:
        raise CommandError(
            f"cannot write {file}: {error.strerror}", "make room, or check its permissions", code=ExitCode.LAB_ERROR
        ) from error
    return file


@contextmanager
def opened(name: str, *, cells: int | None) -> Iterator[Environment]:
    """An environment, with what it needs obtained. Raises EnvironmentUnavailable, CommandError."""
    obtain_for(name)
    with make(name, cells=cells) as environment:
        yield environment


def run_suite(
    screen: Console,
    asked: MatrixRequest,
    environment: Environment,
    folder: Path,
    *,
    needed: dict[CaseKey, int] | None = None,
    made: Collection[str] = (),
) -> tuple[RunRecord, ...]:
    """The runs of one environment that are not made yet, where some are `needed` those alone: maybe none.

    Raises what `measure` raises.
    """
    request, plans = _plans(asked, environment, needed)
    plans = tuple(plan for plan in plans if plan.run_id not in made)
    require_real_clients(plans)
    if not plans:
        return ()
    lanes = min(environment.lanes, asked.cells or environment.lanes)
    name = environment.name
    screen.print(Text(f"{name}: {pluralized(len(plans), 'run')}, {pluralized(lanes, 'cell')}", style="dim"))
    manifest = new_manifest(
        folder.name, plans, environment=name, seed=request.seed, arguments=request.arguments(), folder=request.folder
    )
    with (
        Writer.create(folder, manifest) as writer,
        Display(screen, plans, lanes=lanes) as display,
    ):
        complete = Runner(environment, judge, writer, display, lanes=lanes).run(plans)
    if not complete:
        raise SuiteInterrupted(f"kept in {folder}")
    return read(folder).runs


def _plans(
    asked: MatrixRequest,
    environment: Environment,
    needed: dict[CaseKey, int] | None,
) -> tuple[Request, tuple[RunPlan, ...]]:
    """All runs of an environment's sides; with `needed`, of those cases that need more, as many as they need."""
    drivers = {SIDES[side].driver for side in asked.sides if SIDES[side].environment == environment.name}
    client: Client = "both" if len(drivers) > 1 else "real" if "real" in drivers else "profile"
    request = replace(
        asked.request, client=client, environment=environment.name,
        repeat=asked.request.repeat if needed is None else asked.most,
    )  # fmt: skip
    planned = plan_all(
        load_all(collect(request.paths, folder=request.folder), request.settings, request.selection),
        request.selection,
        environment,
        seed=request.seed,
        repeat=request.repeat,
        client=client,
    )
    plans = (plan for plan in planned.plans if plan.client.driver != "exec")
    if needed is None:
        return request, tuple(plans)
    return request, tuple(plan for plan in plans if plan.repeat <= needed.get(plan.case_key.on_any_side, 0))


def disagreement_lines(records: Sequence[AgreementRecord], *, width: int) -> Iterator[Text]:
    """What does not agree, worst first, and how many do."""
    for outcome, style in (("differs", "bold red"), ("unsure", "yellow"), ("explained", "cyan")):
        for record in (one for one in records if one.outcome == outcome):
            worst = next(one for one in record.compared if one.outcome == outcome)
            case = parameters_text([(p.name, p.text) for p in record.parameters])
            needs = f", needs about {worst.needed} runs a side" if worst.needed is not None else ""
            source = f" ({worst.source})" if worst.source else ""
            off = "" if worst.difference is None else f" {worst.difference:+.3f}{' s' if record.unit == 's' else ''}"
            text = (
                f"{record.scenario}  {record.client} {record.client_version}  {case}  {record.measure}: "
                f"{worst.side} beside {worst.reference}{off}: {worst.reason}{source}{needs}"
            )
            yield wrapped(text, lead=f"{outcome.upper():<9} ", style=style, width=width)


def agreement_exit_code(records: Sequence[AgreementRecord]) -> ExitCode:
    outcomes = {record.outcome for record in records}
    if not outcomes:
        return ExitCode.NOTHING_SELECTED
    if "differs" in outcomes:
        return ExitCode.FAILED
    return ExitCode.INCONCLUSIVE if "unsure" in outcomes else ExitCode.PASSED


def verdict_text(records: Sequence[AgreementRecord]) -> str:
    """`AGREES  12 of 12 rows in 4 cases`, and how many rows have each other outcome. Explained ones do not agree."""
    counted = Counter(record.outcome for record in records)
    word = next(word for outcome, word in HEADLINES.items() if counted[outcome])
    cases = pluralized(len({*map(case_key, records)}), "case")
    others = "".join(f", {counted[o]} {WORDS[o]}" for o in HEADLINES if o != "agrees" and counted[o])
    return f"{word}  {counted['agrees']} of {pluralized(len(records), 'row')} in {cases}{others}"
