"""A story told by hand, for whatever reads stories: the subject's trace line by line, as a driver would record it."""

import re
import signal
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from multiprocessing.util import get_temp_dir
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from machine_noise import Lateness

from harness.faults import FAULTS
from harness.plan import (
    ClientPlan,
    ClusterShape,
    Expectation,
    PlannedFault,
    PlannedOperation,
    ResolvedValue,
    RunPlan,
    Statistic,
    Topic,
)
from harness.story import (
    Event,
    EventKind,
    FaultStory,
    Integrity,
    Kernel,
    LabError,
    MessageCopy,
    Noise,
    OperationStory,
    Outcome,
    SettleResult,
    Story,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Tests share the machine: how fast examples are made is no finding.
hypothesis_settings.register_profile("shared machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
hypothesis_settings.load_profile("shared machine")

# A shell's background job has SIGINT ignored, one under nohup SIGHUP, and children inherit that: what tests interrupt
# has to listen.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With `-m "cell ..."` each of many workers would import every test, to leave most of them out."""
    asked = re.fullmatch(r"(?:(cell|slow) or )?(cell|slow)(?: and not (?:slow|ci))*", config.option.markexpr or "")
    if asked is None:
        return None
    marks = [f"mark.{mark}".encode() for mark in asked.groups() if mark]
    return None if any(_names(collection_path, mark) for mark in marks) else True


def _names(path: Path, mark: bytes) -> bool:
    """Whether a test file, the conftest.py beside it, or a file of the folder, has this mark. tests/docs holds tests
    to writing marks nowhere else."""
    if path.is_dir():
        return any(mark in file.read_bytes() for file in path.rglob("*.py"))
    beside = path.with_name("conftest.py")
    return path.suffix != ".py" or mark in path.read_bytes() or (beside.is_file() and mark in beside.read_bytes())


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One worker has all that starts Java (`--dist loadgroup`): a Spark for each takes longer than what they share.
    `make test` leaves it to CI.

    Tests in cells hold real time to what the kernel does: one that fails on a machine that was measured to be late
    runs again, as the lab repeats a run that noise spoiled. On a punctual machine it fails at once.
    """
    lateness = Lateness()
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)  # the longest first
    for item in items:
        if item.get_closest_marker("spark") or "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group("spark"))
            item.add_marker(pytest.mark.ci)
        if item.get_closest_marker("cell"):
            item.add_marker(pytest.mark.flaky(reruns=2, condition=lateness.noisy))


@pytest.fixture(scope="session", autouse=True)
def own_temporary_folder() -> Iterator[None]:
    """What tests and the programs that they start put aside is theirs, and goes with them.

    Not below pytest's own folders, which no other user may enter: some tests become one. The folder of multiprocessing
    outlives the session, so it is made before.
    """
    get_temp_dir()
    with tempfile.TemporaryDirectory(prefix="faultlab-tests-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o711)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("TMPDIR", folder)
            patch.setattr(tempfile, "tempdir", None)
            yield


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator["SparkSession"]:
    """One Spark for all tests of a process: reports that are made in it take no other."""
    from reports.jvm.class_archive import class_archive_for
    from reports.jvm.runtime import find_java
    from reports.session import spark_session

    with spark_session(class_archive_for(find_java()), tmp_path_factory.mktemp("spark")) as session:
        yield session


SETTINGS = {"Net.DialTimeout": 1.0, "Net.ReadTimeout": 2.0, "Net.WriteTimeout": 3.0, "Metadata.Retry.Backoff": 0.25}


@dataclass
class StoryBuilder:
    """Everything a test may want to change; `story()` and `plan()` make the frozen things of it. Times in seconds."""

    expectations: list[Expectation] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    operations: list[OperationStory] = field(default_factory=list)
    steps: list[Any] = field(default_factory=list)
    faults: list[FaultStory] = field(default_factory=list)
    noise: Noise = field(default_factory=lambda: Noise(loop_lag_p99_s=0.001, loop_lag_max_s=0.002, samples=100))
    error: LabError | None = None
    driver: str = "exec"
    integrity: Integrity | None = None
    statistics: list[Statistic] = field(default_factory=list)

    def add_event(self, at_s: float, kind: str, **fields: Any) -> None:
        """The subject tells something; order of telling is order of `source_seq`."""
        number = len(self.events)
        at_ns = round(at_s * 1e9)
        self.events.append(Event(at_ns=at_ns, source="subject", source_seq=number, kind=kind, fields=fields))

    def wait(self, began_s: float, ended_s: float, setting: str, outcome: str = "elapsed", **fields: Any) -> None:
        self.add_event(began_s, "wait_started", waiting_on=setting, **fields)
        self.add_event(ended_s, "wait_ended", waiting_on=setting, outcome=outcome, **fields)

    def begin(self, at_s: float, alias: str = "probe", operation: str = "send") -> None:
        self.steps.append(PlannedOperation(operation=operation, alias=alias))
        self.add_event(at_s, EventKind.OPERATION_STARTED, operation=alias, purpose=operation)

    def end(self, began_s: float, ended_s: float, outcome: str, alias: str = "probe", **fields: Any) -> None:
        operation = next(
            step.operation for step in self.steps if getattr(step, "operation", None) and step.alias == alias
        )
        if outcome != "censored":
            self.add_event(ended_s, EventKind.OPERATION_ENDED, operation=alias, purpose=operation, outcome=outcome)
        self.operations.append(
            OperationStory(
                alias=alias, operation=operation, started_ns=round(began_s * 1e9), ended_ns=round(ended_s * 1e9),
                outcome=Outcome(outcome), **fields,
            )
        )  # fmt: skip

    def inject(
        self,
        *,
        proven: bool,
        finding: str = "dropped 14 packets",
        at_s: float = 0.0,
        healing_s: float | None = None,
        healed_s: float | None = 100.0,
        met_by: tuple[str, ...] | None = None,
    ) -> None:
        blackhole = FAULTS["blackhole"]()
        self.steps.append(PlannedFault(fault=blackhole, alias="outage"))
        self.faults.append(
            FaultStory(
                alias="outage", fault="blackhole", parameters={}, began_ns=round(at_s * 1e9),
                confirmed_ns=round(at_s * 1e9),
                healing_ns=None if healing_s is None else round(healing_s * 1e9),
                healed_ns=None if healed_s is None else round(healed_s * 1e9),
                proof="packets_dropped", count=14.0 if proven else 0.0, proven=proven, finding=finding, met_by=met_by,
            )
        )  # fmt: skip

    def log(self, *operations: str, complete: bool = True, partition: int = 0) -> None:
        """The log of a settled world: whose message each record is, in the order of offsets."""
        copies = tuple(
            MessageCopy(operation=operation, topic="orders", partition=partition, offset=offset)
            for offset, operation in enumerate(operations)
        )
        before = self.integrity.copies if self.integrity is not None else ()
        self.integrity = Integrity(settled=SettleResult(seconds=1.5, complete=complete), copies=(*before, *copies))

    def expect(self, measure: str, kind: str, formula: str, **more: Any) -> Expectation:
        expectation = Expectation(measure=measure, kind=kind, formula=formula, **more)  # type: ignore[arg-type]
        self.expectations.append(expectation)
        return expectation

    def plan(self) -> RunPlan:
        client = ClientPlan(name="mine", version="1.27.2", argv=("./mine",))
        settings = tuple(ResolvedValue(name=name, text=f"{s:g}s", unit="s", value=s) for name, s in SETTINGS.items())
        return RunPlan(
            run_id="0123456789ab", scenario="by-hand", path=Path("by-hand.scenario.yaml"), about="", tags=(),
            environment="local", settings=settings, given_settings=tuple(list(SETTINGS)[:3]), parameters=(),
            client=replace(client, profile="mine") if self.driver == "bundled" else client,
            cluster=ClusterShape(brokers=1, topics=(Topic(name="orders"),)), steps=tuple(self.steps),
            expectations=tuple(self.expectations), seed=1, repeat=1, statistics=tuple(self.statistics),
            integrity=self.integrity is not None,
        )  # fmt: skip

    def story(self) -> Story:
        return Story(
            run_id="0123456789ab", attempt=1, origin_ns=0, ready_s=0.1, ended_ns=10**12,
            operations=tuple(self.operations), faults=tuple(self.faults), events=tuple(self.events),
            noise=self.noise, kernel=Kernel(release="by hand", hz=250), error=self.error, integrity=self.integrity,
        )  # fmt: skip


@pytest.fixture
def story_builder() -> StoryBuilder:
    return StoryBuilder()


@pytest.fixture
def blackholed() -> Callable[[], StoryBuilder]:
    """A send into a dark port: two reads, four dials, three back-offs, an error after 8.751 s."""

    def make() -> StoryBuilder:
        story_builder = StoryBuilder()
        story_builder.begin(0.0, "warm_up")
        story_builder.add_event(0.0, "dial_started", connection=1, broker=1)
        story_builder.add_event(0.0, "dial_ended", connection=1, broker=1, outcome="connected")
        story_builder.wait(0.0, 0.004, "Net.ReadTimeout", "satisfied", connection=1)
        story_builder.end(0.0, 0.005, "ok", "warm_up")
        story_builder.inject(proven=True, at_s=0.998)
        story_builder.begin(1.0)
        story_builder.add_event(1.0, "attempt_started", operation="probe", try_number=1)
        now_s = 1.001
        for setting, takes_s in [("Net.ReadTimeout", 2.0)] * 2 + [("Net.DialTimeout", 1.0)] + [
            ("Metadata.Retry.Backoff", 0.25), ("Net.DialTimeout", 1.0)
        ] * 3:  # fmt: skip
            if setting == "Net.DialTimeout":
                story_builder.add_event(now_s, "dial_started", connection=2, broker=-1, address="127.0.2.1:9092")
            story_builder.wait(now_s, now_s + takes_s, setting, purpose="x")
            now_s += takes_s
        story_builder.add_event(now_s, "attempt_ended", operation="probe", try_number=1, outcome="failed")
        story_builder.end(1.0, now_s, "failed", error="client has run out of available brokers")
        story_builder.add_event(now_s, "dial_started", connection=9, broker=1)
        return story_builder

    return make
