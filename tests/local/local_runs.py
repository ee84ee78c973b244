"""Plans and small conducts for tests of the local environment."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness.environments.local.environment import LocalEnvironment
from harness.environments.world import Conduct, World
from harness.plan import ClientPlan, ClusterShape, RunPlan, Topic
from harness.story import Noise, OperationStory, Outcome, Story


def plan(
    *, brokers: int = 1, run_id: str = "test", limit_s: float = 30.0, argv: tuple[str, ...] = ("subject",)
) -> RunPlan:
    return RunPlan(
        run_id=run_id,
        scenario="test",
        path=Path("test.scenario.yaml"),
        about="",
        tags=(),
        environment="local",
        client=ClientPlan(name="own", version="1", argv=argv),
        settings=(),
        given_settings=(),
        parameters=(),
        cluster=ClusterShape(brokers=brokers, topics=(Topic(name="orders"),)),
        steps=(),
        expectations=(),
        seed=7,
        repeat=1,
        limit_s=limit_s,
    )


def story(plan: RunPlan, world: World, told: str = "") -> Story:
    """A story whose one operation carries `told`: how a small conduct hands out what it saw."""
    return Story(
        run_id=plan.run_id,
        attempt=plan.attempt,
        origin_ns=world.now_ns(),
        ready_s=None,
        ended_ns=0,
        operations=(
            OperationStory(alias="seen", operation="test", started_ns=0, ended_ns=0, outcome=Outcome.OK, error=told),
        ),
        faults=(),
        events=(),
        noise=Noise(loop_lag_p99_s=0.0, loop_lag_max_s=0.0, samples=0),
        kernel=world.kernel,
    )


def told(result: Story) -> str:
    assert result.error is None, result.error
    return result.operations[0].error or ""


def opened(conduct: Conduct, *, lanes: int = 16) -> LocalEnvironment:
    return LocalEnvironment(conduct, lanes=lanes)


def run(conduct: Conduct, given: RunPlan | None = None, logs: Path | None = None) -> Story:
    """One run in an environment of its own."""
    with opened(conduct) as local:
        return local.run(given or plan(), lambda _: None, logs)


def in_threads(count: int, work: Callable[[int], Any]) -> list[Any]:
    """`work(0)` to `work(count - 1)` side by side; results, or the exceptions, in order."""
    results: list[Any] = [None] * count

    def one(place: int) -> None:
        try:
            results[place] = work(place)
        except Exception as exc:  # noqa: BLE001 - handed to the test
            results[place] = exc

    threads = [threading.Thread(target=one, args=(place,)) for place in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results
