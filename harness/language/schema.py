"""What a scenario file may hold, as pydantic models: their shapes, ranges and descriptions are also the JSON Schema.

Models see plain values. Whether a setting or a broker exists is checked in `resolve`.
"""

from typing import Annotated, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    StringConstraints,
    Tag,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError

from harness.quantities import Seconds, ToleranceField, quote_value

FORMAT = 1
MOST_BROKERS = 99
MOST_REPEATS = 1000
MOST_BOOTSTRAP_ADDRESSES = 50

NAME, ALIAS = r"^[a-z0-9]+(?:[-_.][a-z0-9]+)*$", r"^[A-Za-z][A-Za-z0-9_]*$"
TOPIC = r"^(?:\.*[A-Za-z0-9_-][A-Za-z0-9._-]*|\.{3,})$"
"""As Kafka checks it: neither `.` nor `..`. Source: apache/kafka Topic.java."""
VARIABLE = r"^[A-Za-z_][A-Za-z0-9_]*\*?$"
CALLED = r"^[A-Za-z][A-Za-z0-9_]*(?:#[1-9][0-9]{0,3})?$"
"""What records call a fault, an occurrence of one, or a call."""
MOMENT = r"^\s*[A-Za-z][A-Za-z0-9_]*(?:#[1-9][0-9]{0,3})?\s*(\+.*)?$"
PATTERN_HINTS = {
    NAME: "small letters and digits, joined by - or _ or a dot, such as my-producer",
    ALIAS: "begin with a letter; letters, digits and _ may follow, such as warm_up",
    CALLED: "write the name of an earlier fault",
    TOPIC: "letters and digits without accents, dots, - and _; neither . nor .. alone",
    VARIABLE: "name a variable, or the beginning of several: KAFKA_*",
    MOMENT: "write the name of an earlier step, or outage+4s",
}
"""The hint for a text that does not match the pattern."""

Name = Annotated[str, StringConstraints(pattern=NAME, max_length=80)]
Alias = Annotated[str, StringConstraints(pattern=ALIAS, max_length=40)]
Line = Annotated[str, StringConstraints(min_length=1, max_length=500)]
BrokerId = Annotated[int, Field(ge=1, le=MOST_BROKERS)]

UNREACHABLE_ADDRESSES = ("dark", "refused")


def _bootstrap_address(value: object) -> object:
    if value in UNREACHABLE_ADDRESSES or (type(value) is int and 1 <= value <= MOST_BROKERS):
        return value
    text = f"{quote_value(value)} is no number of a broker, and neither dark nor refused"
    raise PydanticCustomError("bootstrap", "{text}", {"text": text, "hint": "write [1, 2] or [1, dark]"})


BootstrapAddress = Annotated[
    int | str,
    BeforeValidator(_bootstrap_address),
    WithJsonSchema(
        {"anyOf": [{"type": "integer", "minimum": 1, "maximum": MOST_BROKERS}, {"enum": list(UNREACHABLE_ADDRESSES)}]}
    ),
]
"""One address that a client starts from."""


def _as_text(value: object) -> object:
    return str(value) if isinstance(value, int | float) else value


FormulaText = Annotated[
    str, BeforeValidator(_as_text, json_schema_input_type=str | float), StringConstraints(min_length=1, max_length=2000)
]


class StrictModel(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, populate_by_name=False)


class Driver(StrictModel):
    """How a program of the user's is started: without a shell."""

    exec: Annotated[list[Line], Field(min_length=1)] = Field(
        description="Program and arguments; `./mine` is looked for in the scenario's folder, `mine` on PATH"
    )
    pass_env: list[Annotated[str, StringConstraints(pattern=VARIABLE)]] = Field(
        default=[],
        description="Environment variables that the program gets besides those that every one does (docs/SECURITY.md);"
        " `*` at the end stands for any",
    )


class Client(StrictModel):
    """Who is under test: a bundled profile of a release, or a program that speaks the subject protocol."""

    profile: str | None = Field(default=None, description="A bundled client, such as sarama")
    version: Line | None = Field(default=None, description="Its release; releases are never rounded")
    real: bool = Field(
        default=False, description="The library itself in the profile's place; --client real does so for all scenarios"
    )
    producer: str | None = Field(
        default=None, description="Which of the profile's producers, such as sync or async; its usual one where absent"
    )
    driver: Driver | None = Field(default=None, description="Instead of `profile`: a program of your own")
    name: Name | None = Field(default=None, description="What reports call a program of your own")
    bootstrap: Annotated[list[BootstrapAddress], Field(min_length=1, max_length=MOST_BOOTSTRAP_ADDRESSES)] = Field(
        default=[1],
        description="What the client starts from: numbers of brokers; `dark`, `refused`: an address of no member, which"
        " answers nothing, or refuses",
    )


class TopicShape(StrictModel):
    """A topic; `leaders` holds the leader of each partition, in order."""

    name: Annotated[str, StringConstraints(pattern=TOPIC, max_length=249)]
    partitions: int = Field(default=1, ge=1, le=1000)
    replication: int = Field(default=1, ge=1, le=MOST_BROKERS)
    leaders: list[BrokerId] | None = Field(default=None, description="Brokers in turn where absent")


class CertificateShape(StrictModel):
    """A user's own certificate for the brokers. Paths are relative to the scenario's folder."""

    ca: Line
    certificate: Line
    key: Line


class Cluster(StrictModel):
    """Brokers are numbered from 1."""

    brokers: int = Field(ge=1, le=MOST_BROKERS)
    topics: list[TopicShape] = Field(default=[])
    tls: Annotated[
        Annotated[bool, Tag("lab")] | Annotated[CertificateShape, Tag("own")],
        Discriminator(lambda value: "own" if isinstance(value, dict | CertificateShape) else "lab"),
    ] = Field(
        default=False,
        description="Brokers take connections inside TLS alone, with certificates that the lab makes, or with yours:"
        " `{ca: ca.pem, certificate: brokers.pem, key: brokers.key}`, files in PEM beside the scenario",
    )
    sasl: list[Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]] = Field(
        default=[],
        description="The mechanisms by which clients have to authenticate; absent: they do not. The lab gives the"
        " client the right user and password",
    )
    names: bool = Field(
        default=False,
        description="Brokers are called `broker-1.kafka.test` and so on, and clients look these names up at a name"
        " server of the run's own",
    )


class Spread(StrictModel):
    """A time drawn again in each run."""

    uniform: Annotated[list[Seconds], Field(min_length=2, max_length=2)] = Field(
        description="At least and at most so long; each moment in between is as likely"
    )


Delay = Annotated[
    Annotated[Seconds, Tag("exactly")] | Annotated[Spread, Tag("drawn")],
    Discriminator(lambda value: "drawn" if isinstance(value, dict | Spread) else "exactly"),
]
"""How long to wait: a mistake in it is reported for the one of both that is meant."""


class Timed(StrictModel):
    """When a step starts."""

    at: str | None = Field(
        default=None, pattern=MOMENT, examples=["outage+4s"],
        description="After the step called so was confirmed (a fault, for the first time) or ended (an operation)",
    )  # fmt: skip
    after: Delay | None = Field(
        default=None,
        description="So long after the step before has ended; `{uniform: [0s, 1s]}` draws it from the run's seed",
    )


class DoStep(Timed):
    """An operation of the client; it ends before the next step starts, unless `background: true`."""

    model_config = ConfigDict(extra="allow", title="do")

    do: str = Field(description="What the client is asked to do")
    alias: Alias | None = Field(default=None, alias="as", description="What expectations call it; else its own name")
    expect: str | None = Field(default=None, description="How it has to end")
    give_up_after: Seconds | None = Field(
        default=None, description="The lab's patience: past it the operation's time is censored"
    )
    background: bool = Field(default=False, description="Start the next step without waiting for the end")
    every: Seconds | None = Field(
        default=None, description="With `until`: call again this long after the previous call, or when it has ended"
    )
    until: str | None = Field(default=None, description="How a call has to end for the step to end; see `every`")


class Trigger(StrictModel):
    """The request that injects a fault; it is held in its broker until the fault is confirmed, then let through."""

    request: Annotated[str, StringConstraints(pattern=r"^[a-z]+(_[a-z]+)*$")] = Field(
        description="`produce`, `metadata` and so on, or `all`"
    )
    broker: BrokerId = Field(description="The broker that gets it")
    nth: int = Field(default=1, ge=1, description="Which of those that it gets once the step has started")


class InjectStep(Timed):
    """A fault; the step ends when the fault is confirmed. The fault's own parameters stand beside these keys."""

    model_config = ConfigDict(extra="allow", title="inject")

    inject: str = Field(description="Which fault")
    alias: Alias | None = Field(default=None, alias="as", description="What other steps call it; else the fault's name")
    for_: Seconds | None = Field(default=None, alias="for", description="Heal by itself after this; else at the end")
    every: Seconds | None = Field(
        default=None,
        ge=0.001,
        description="With `times`: inject it again this long after each injection, called outage#2, ...",
    )
    times: int | None = Field(default=None, ge=2, le=10_000, description="How often in total; see `every`")
    trigger: Trigger | None = Field(
        default=None, description="Inject it when this request comes; the step ends when that is waited for"
    )


class HealStep(Timed):
    """Undo a fault; the step ends when that is confirmed."""

    model_config = ConfigDict(title="heal")

    heal: Annotated[str, StringConstraints(pattern=CALLED)] = Field(
        description="The fault's `as`; one that recurs is healed with all its occurrences"
    )


STEPS: dict[str, type[DoStep] | type[InjectStep] | type[HealStep]] = {
    "do": DoStep, "inject": InjectStep, "heal": HealStep,
}  # fmt: skip
BoundKind = Literal["equals", "at_most", "at_least", "claim"]
BOUND_KINDS: tuple[BoundKind, ...] = ("equals", "at_most", "at_least", "claim")
BETWEEN: Literal["between"] = "between"
MEASURE = "measure"
StatisticKind = Literal["share", "mean", "quantile"]
STATISTICS: tuple[StatisticKind, ...] = ("share", "mean", "quantile")


class Expect(StrictModel):
    """A bound with its source: on a measure of every run, or on what the repeats of a case have in common.

    Exactly one of measure, share, mean, quantile, and one of equals, at_most, at_least, claim; of a measure also
    between. A bound is a formula over the client's own settings, or `formula(name)` for a named one: of formulas.yaml
    beside the file, or bundled.
    """

    measure: Line | None = Field(
        default=None,
        description="<step>.<measure>, such as probe.time_to_error",
        examples=["probe.time_to_error", "outage.recovery", "run.zombies"],
    )
    share: FormulaText | None = Field(
        default=None,
        description="The part of the runs in which this condition holds",
        examples=["probe.outcome == 'failed'"],
    )
    mean: Line | None = Field(default=None, description="A measure, over all repeats", examples=["connect.time_to_end"])
    quantile: Line | None = Field(default=None, description="A measure, over all repeats; `q` says which quantile")
    q: float | None = Field(default=None, gt=0, lt=1, description="0.9: what nine runs of ten stay below")
    between: Annotated[list[FormulaText], Field(min_length=2, max_length=2)] | None = Field(
        default=None,
        description="The measure lies between these, give or take `within`. Of a mean: what a single run can give",
        examples=[["1s", "2s"]],
    )
    equals: FormulaText | None = Field(default=None, description="The measure is this, give or take `within`")
    at_most: FormulaText | None = None
    at_least: FormulaText | None = None
    claim: FormulaText | None = Field(default=None, description="What a published text says the measure is")
    within: ToleranceField | None = Field(
        default=None,
        description="Tolerance: 1% + 50ms of a time, 0.08 of a share, 1 of a count (exact without)",
    )
    when: FormulaText | None = Field(default=None, description="Judge only where this condition holds")
    holds: bool | None = Field(default=None, description="What the lab knows of a claim; only this can fail the run")
    name: Name | None = Field(default=None, description="What reports call it")
    source: Annotated[str, StringConstraints(max_length=500)] = Field(default="", description="Where the bound is from")


class ScenarioFile(StrictModel):
    """A fault, what the client does meanwhile, and what is expected of it."""

    format: Literal[1] = Field(description="Version of this format")
    scenario: Name = Field(description="Its name: in tables, file names and run ids")
    about: Line = Field(description="One sentence: what happens, and to which client")
    tags: list[Name] = Field(default=[], description="For `--tag`; `slow` is left out on local unless asked for")
    client: Client
    settings: dict[str, object] = Field(
        default={}, description="The client's own, by full name; durations with their unit",
        json_schema_extra={"additionalProperties": {"type": ["string", "number", "boolean"]}},
    )  # fmt: skip
    cluster: Cluster
    steps: Annotated[list[dict[str, object]], Field(min_length=1, max_length=200)]
    expect: Annotated[list[Expect], Field(min_length=1, max_length=200)]
    repeat: int = Field(default=1, ge=1, le=MOST_REPEATS, description="Runs of each matrix cell")
    integrity: bool = Field(
        default=False, description="Read the log once all has settled; measures of the log ask for it by themselves"
    )
