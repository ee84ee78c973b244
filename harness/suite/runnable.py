"""Plans for those scenarios that an environment can run; of each of the others, why not.

`plan_all` refuses a suite as a whole, so that a part of it is never mistaken for all of it. A caller that reports each
case by itself is better served by what can be run.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.environments.world import Environment
from harness.language import Problems, Scenario
from harness.realclients import RealClientMissing
from harness.suite.naming import case_id
from harness.suite.planning import Client, LoadedScenario, Selection, SuitePlan, plan_all, require_real_clients


@dataclass(frozen=True, slots=True)
class UnrunnableScenario:
    """A scenario of which nothing can be run there, and why."""

    scenario: Scenario
    why: Problems | RealClientMissing

    @property
    def case_ids(self) -> tuple[str, ...]:
        return tuple(case_id(self.scenario.name, cell.parameters) for cell in self.scenario.cells)


def plan_runnable(
    loaded: Sequence[LoadedScenario], selection: Selection, environment: Environment, *, seed: int, repeat: int | None,
    client: Client | None = None,
) -> tuple[SuitePlan, tuple[UnrunnableScenario, ...]]:  # fmt: skip
    """As `plan_all`, scenario by scenario; a library that is not built is a reason too."""
    suites: list[SuitePlan] = []
    impossible: list[UnrunnableScenario] = []
    for one in loaded:
        try:
            suite = plan_all((one,), selection, environment, seed=seed, repeat=repeat, client=client)
            require_real_clients(suite.plans)
        except (Problems, RealClientMissing) as why:
            impossible.append(UnrunnableScenario(selection.with_selected_cases(one.scenario), why))
        else:
            suites.append(suite)
    planned = SuitePlan(
        plans=tuple(plan for suite in suites for plan in suite.plans),
        scenarios=tuple(scenario for suite in suites for scenario in suite.scenarios),
        skipped_slow=tuple(name for suite in suites for name in suite.skipped_slow),
    )
    return planned, tuple(impossible)
