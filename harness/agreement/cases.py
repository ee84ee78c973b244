"""Cells: a scenario with one version and one set of parameters, and everybody's runs of it."""

from collections.abc import Iterable
from dataclasses import dataclass

from harness.agreement.samples import CONCLUSIVE
from harness.agreement.sides import SIDES, side_of
from harness.records.agreement import Side
from harness.records.case_key import CaseKey, case_key
from harness.records.run import RunRecord


@dataclass(frozen=True, slots=True)
class AgreementCase:
    """The runs of each side: at least one."""

    runs: dict[Side, tuple[RunRecord, ...]]

    @property
    def any(self) -> RunRecord:
        """A run that has expectations: conclusive if there is one, since a run that the lab ended has none."""
        runs = [run for runs in self.runs.values() for run in runs]
        return next((run for run in runs if run.verdict in CONCLUSIVE), runs[0])

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures of the scenario's expectations, the duration of the last operation where none of them is a time;
        how each operation in them ends, and how often it dials, where every side tells."""
        run = self.any
        expected = [judged for judged in run.expectations if judged.outcome != "skipped"]
        wanted = [judged.measure for judged in expected]
        if not any(judged.unit == "s" for judged in expected) and run.operations:
            wanted.append(f"{run.operations[-1].alias}.time_to_end")
        aliases = dict.fromkeys(measure.rpartition(".")[0] for measure in wanted)
        called = {operation.alias for operation in run.operations}
        outcomes = [f"{alias}.outcome" for alias in aliases if alias in called]
        dials = [name for alias in aliases if alias in called and self._told(name := f"{alias}.dials")]
        return tuple(dict.fromkeys([*wanted, *outcomes, *dials]))

    def _told(self, measure: str) -> bool:
        """Whether every side has the measure in a run that was conclusive."""
        return all(
            any(
                one.name == measure and one.missing is None
                for run in runs
                if run.verdict in CONCLUSIVE
                for one in run.measures
            )
            for runs in self.runs.values()
        )


def agreement_cases(runs: Iterable[RunRecord], sides: Iterable[Side] = SIDES) -> tuple[AgreementCase, ...]:
    """The cases that more than one of these sides ran, in the order of their first runs."""
    wanted = set(sides)
    together: dict[CaseKey, dict[Side, list[RunRecord]]] = {}
    for run in runs:
        side = side_of(run)
        if side in wanted and side is not None:
            together.setdefault(case_key(run).on_any_side, {}).setdefault(side, []).append(run)
    cases = [AgreementCase({side: tuple(ran[side]) for side in SIDES if side in ran}) for ran in together.values()]
    return tuple(case for case in cases if len(case.runs) > 1)
