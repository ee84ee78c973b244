"""The record of one statistical expectation over one case: a line of groups.jsonl."""

from typing import Literal

from pydantic import Field

from harness.records.run import EMBEDDED, FORMAT, NamedValue, Record, Term, Verdict


class GroupRecord(Record):
    """What the repeats of one case have in common, held against a bound.

    `estimate` is the share, mean or quantile of the runs that told it; the true one lies between `interval_low` and
    `interval_high` (None: not known on that side) but for the chance `level`. `low` and `high` are the prediction with
    its tolerance. `needed` says how many runs it takes, where there were too few.
    """

    format: int = FORMAT
    scenario: str
    path: str
    client: str
    client_version: str
    driver: Literal["bundled", "real", "exec"]
    environment: str
    broker: str = Field(EMBEDDED, exclude_if=lambda kind: kind == EMBEDDED)
    broker_version: str = Field("", exclude_if=lambda version: not version)
    parameters: tuple[NamedValue, ...] = ()
    statistic: Literal["share", "mean", "quantile"]
    of: str
    q: float | None = None
    kind: Literal["equals", "at_most", "at_least", "claim"]
    formula: str
    when: str | None = None
    unit: Literal["s", "count", "share"]
    terms: tuple[Term, ...] = ()
    predicted: float | None = None
    low: float | None = None
    high: float | None = None
    runs: int
    measured: int
    estimate: float | None = None
    interval_low: float | None = None
    interval_high: float | None = None
    level: float | None = None
    needed: int | None = None
    verdict: Verdict
    outcome: Literal["held", "failed", "refuted", "skipped", "inconclusive"]
    declared_holds: bool | None = None
    reason: str | None = None
    source: str = ""
    name: str = ""
    line: int = 0
    bound: str = Field("", exclude_if=lambda text: not text)
    """As in an expectation."""
