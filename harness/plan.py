"""One run, resolved: everything that the conductor and a world must know, with nothing left to look up.

`harness.language` and `harness.suite` make plans, `harness.conductor` follows one, an environment carries it into a
cell. Plans are frozen and picklable, so that they can cross into a forked cell.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from harness.cluster_view import ClusterView, PartitionView, replicas_of
from harness.faults.base import FaultModel
from harness.levers import HeldBack, Intercept
from harness.records.case_key import CaseKey
from harness.records.run import EMBEDDED

Unit = Literal["s", "count", "bool", "text"]

BLACKHOLED_BASE, REFUSED_BASE = 100, 200
"""Numbers of addresses that belong to no broker: 101, 102, ... are blackholed, 201, 202, ... refuse connections."""
DriverName = Literal["bundled", "real", "exec"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedValue:
    """A setting or a matrix parameter: its full name, its text as written (`1s`), and its value.

    `value` is seconds for a duration (`unit == "s"`), else a number or None where it has no numeric value.
    """

    name: str
    text: str
    unit: Unit
    value: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """A topic with the leader of each partition, in order; `replication` counts replicas."""

    name: str
    partitions: int = 1
    replication: int = 1
    leaders: tuple[int, ...] = (1,)


@dataclass(frozen=True, slots=True, kw_only=True)
class CertificateFiles:
    """Files in PEM: the authority that clients trust, the brokers' certificate, and its key. Named as the scenario at
    `path` names them, relative to its folder."""

    ca: str
    certificate: str
    key: str
    path: Path

    @property
    def folder(self) -> Path:
        return self.path.absolute().parent


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterShape:
    """`brokers` brokers with ids 1..brokers, and their topics; which kind of broker, in which version if it has any.
    `tls`: they take connections inside TLS alone. `sasl`: the mechanisms by which clients authenticate,
    none: they do not. `names`: they are reached by names, which clients look up. `certificates`:
    of a user's own, with `tls`; None: the lab makes them."""

    brokers: int
    topics: tuple[Topic, ...] = ()
    kind: str = EMBEDDED
    version: str = ""
    tls: bool = False
    sasl: tuple[str, ...] = ()
    names: bool = False
    certificates: CertificateFiles | None = None

    @property
    def broker_ids(self) -> tuple[int, ...]:
        return tuple(range(1, self.brokers + 1))

    def view(self) -> ClusterView:
        """The cluster as it starts: the first broker is the controller."""
        ids = self.broker_ids
        return ClusterView(
            brokers=ids,
            controller=ids[0],
            topics={
                topic.name: tuple(
                    PartitionView(leader=leader, replicas=replicas_of(leader, ids, topic.replication))
                    for leader in (topic.leaders * topic.partitions)[: topic.partitions]
                )
                for topic in self.topics
            },
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientPlan:
    """The client under test: a bundled profile (`profile`, `version`) or a program of the user's (`argv`).

    `pass_env` names environment variables that the program gets besides the usual ones.
    `real`: the library itself runs instead of the profile, whose settings and formulas apply to it. `bootstrap` holds
    broker ids, which the world turns into their advertised addresses. Ids above `BLACKHOLED_BASE` are addresses of no
    broker that never answer; ids above `REFUSED_BASE` are addresses without a listener.
    """

    name: str
    version: str
    profile: str | None = None
    real: bool = False
    producer: str | None = None
    argv: tuple[str, ...] = ()
    pass_env: tuple[str, ...] = ()
    bootstrap: tuple[int, ...] = (1,)

    @property
    def blackholed(self) -> tuple[int, ...]:
        """Addresses of the bootstrap list that never answer, in its order."""
        return tuple(number for number in self.bootstrap if BLACKHOLED_BASE < number <= REFUSED_BASE)

    @property
    def refused(self) -> tuple[int, ...]:
        """Addresses of the bootstrap list without a listener, in its order."""
        return tuple(number for number in self.bootstrap if number > REFUSED_BASE)

    @property
    def driver(self) -> DriverName:
        if self.profile is None:
            return "exec"
        return "real" if self.real else "bundled"


@dataclass(frozen=True, slots=True, kw_only=True)
class StartCondition:
    """When a step starts: as soon as the step before has ended, or `after_s` after that, or `after_s` after the
    moment at which the step called `alias` was confirmed (a fault) or ended (an operation).

    `spread_s`: up to so much later, drawn from the run's seed.
    """

    alias: str | None = None
    after_s: float = 0.0
    spread_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatUntil:
    """Call an operation again until it ends as `until` says: `every_s` after the last call, or when that has ended."""

    every_s: float
    until: Literal["acknowledged", "ok", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedOperation:
    """An operation. `give_up_after_s` is the lab's patience: past it the operation is censored.

    With `again` the patience is for all calls together; `call_alias` says what they are called.
    """

    operation: str
    alias: str
    arguments: Mapping[str, str | int | float] = field(default_factory=dict)
    expect: Literal["acknowledged", "ok", "failed"] | None = None
    give_up_after_s: float = 300.0
    background: bool = False
    again: RepeatUntil | None = None
    when: StartCondition = StartCondition()
    line: int = 0


def call_alias(alias: str, number: int) -> str:
    """The alias of a step's call, or of a fault's occurrence: that of the step for the first, `probe`; then `probe#2`,
    `probe#3`."""
    return alias if number == 1 else f"{alias}#{number}"


def step_alias(alias: str) -> str:
    """The step that a call belongs to: `probe` of `probe#3`."""
    return alias.partition("#")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recurrence:
    """A fault is injected anew `every_s` after each injection, until there were so many; `call_alias` says what they
    are called. An occurrence that is still in force is healed before the next."""

    every_s: float
    times: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger:
    """The `nth` request of an API (`all`: of any) that a broker gets from the client once the step has started: it is
    held in the broker until the fault is confirmed, and then let through."""

    request: str
    broker: int
    nth: int = 1

    @property
    def intercept(self) -> Intercept:
        """What holds the request."""
        return Intercept(broker=self.broker, answer=HeldBack(), api=self.request, nth=self.nth)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedFault:
    """A fault. Ends when every lever is confirmed; `for_s` heals it by itself, else a Heal or the run's end does.

    With a trigger the step ends when it is armed, and the fault is injected when that request comes.
    """

    fault: FaultModel
    alias: str
    for_s: float | None = None
    recurs: Recurrence | None = None
    trigger: Trigger | None = None
    when: StartCondition = StartCondition()
    line: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedHealing:
    """Undo the fault called `alias`. Ends when the healing is confirmed."""

    alias: str
    when: StartCondition = StartCondition()
    line: int = 0


Step = PlannedOperation | PlannedFault | PlannedHealing


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """A bound on a measure, with its source.

    `formula` is a formula's text; of a measure whose unit is `text` the word; of `between` both `ends` as written.
    `within_relative` (0.01 = 1 %) and `within_absolute` (seconds, or a count) add up. A claim is quoted from a text: it
    fails a run only if it turns out other than `holds` says (None: reported, never failing). `bound` is what the
    scenario writes: `at_most: 5s`, `equals: formula(a_name), within: 1% + 50ms`.
    """

    measure: str
    kind: Literal["equals", "at_most", "at_least", "between", "claim"]
    formula: str
    within_relative: float = 0.0
    within_absolute: float = 0.0
    when: str | None = None
    holds: bool | None = None
    source: str = ""
    name: str = ""
    line: int = 0
    bound: str = ""
    ends: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistic:
    """A bound on what the repeats of one case have in common, with its source.

    `of` is a condition on a single run (`share`: the part of the runs in which it holds), or a measure's name (`mean`,
    `quantile`: `q` says which, above 0 and below 1). `unit` is that of the measure; of a share it is `share`. A `mean`
    is one of values from `lowest` to `highest`. Bounds and tolerances are those of an Expectation.
    """

    statistic: Literal["share", "mean", "quantile"]
    of: str
    unit: Literal["s", "count", "share"]
    kind: Literal["equals", "at_most", "at_least", "claim"]
    formula: str
    q: float | None = None
    lowest: float = 0.0
    highest: float = 1.0
    within_relative: float = 0.0
    within_absolute: float = 0.0
    when: str | None = None
    holds: bool | None = None
    source: str = ""
    name: str = ""
    line: int = 0
    bound: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """scenario x client x environment x parameters x seed x repeat, with its identity.

    `run_id` is the first 12 hex digits of a SHA-256 over everything in the plan but `attempt`, `path`, `predicted_s`
    and every `line` and `bound`. `attempt` counts the tries made after noise, from 1; only the last one counts.
    `settings` are the client's own, all of them, defaults filled in. `parameters` are the matrix cell's. `predicted_s`
    is the longest time that a formula of this plan predicts for the whole run, `expected_s` the same with what its
    limits allow, `limit_s` the time after which the lab ends it. `statistics` are judged over all repeats together.
    `integrity`: once all is healed, the run waits until the world has settled, and reads the log.
    """

    run_id: str
    scenario: str
    path: Path
    about: str
    tags: tuple[str, ...]
    environment: str
    client: ClientPlan
    settings: tuple[ResolvedValue, ...]
    given_settings: tuple[str, ...]
    parameters: tuple[ResolvedValue, ...]
    cluster: ClusterShape
    steps: tuple[Step, ...]
    expectations: tuple[Expectation, ...]
    seed: int
    repeat: int
    attempt: int = 1
    expected_s: float | None = None
    predicted_s: float | None = None
    limit_s: float = 600.0
    statistics: tuple[Statistic, ...] = ()
    integrity: bool = False

    def operation_name(self, alias: str) -> str | None:
        """Which operation the step called `alias` does; None where no step is called so."""
        operations = (step for step in self.steps if isinstance(step, PlannedOperation))
        return next((step.operation for step in operations if step.alias == alias), None)

    def expects_of(self, alias: str) -> bool:
        """Whether anything is expected of what the step called `alias` does, beside how it ends."""
        texts = [one.measure for one in self.expectations] + [one.of for one in self.statistics]
        return any(re.search(rf"(?<![\w.]){re.escape(alias)}\.", text) for text in texts)

    def full_setting_name(self, setting: str) -> str:
        """A setting's full name from any dotted end of it that is unique; the text itself where none is."""
        names = [named.name for named in self.settings]
        ends = [setting] if setting in names else [name for name in names if name.endswith(f".{setting}")]
        return ends[0] if len(ends) == 1 else setting

    @property
    def case_key(self) -> CaseKey:
        """The case of which this run is a repeat; equal to that of its record."""
        return CaseKey(
            scenario=self.scenario,
            client=self.client.name,
            version=self.client.version,
            driver=self.client.driver,
            environment=self.environment,
            parameters=tuple((parameter.name, parameter.text) for parameter in self.parameters),
            broker=self.cluster.kind,
            broker_version=self.cluster.version,
        )
