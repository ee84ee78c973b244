"""The record of one measure of one case, compared between those that ran it: a line of agreement.jsonl.

A case is a scenario with one version and one set of parameters. Those who ran it are its sides: the profile and the
real client on real sockets, the profile on virtual time.
"""

from typing import Literal

from pydantic import Field

from harness.records.run import EMBEDDED, FORMAT, NamedValue, Record, Term

Side = Literal["profile", "real", "sim"]
Agreement = Literal["agrees", "explained", "unsure", "differs"]
"""`unsure`: too few runs to say; it is never agreement. `explained`: it differs, and a source line says why."""


class SideResult(Record):
    """What one side showed. `measured` of its `runs` told a value, `censored` had not ended; the rest told nothing.

    `values` are in the record's unit, sorted. `outcomes` counts words instead where the measure is one: `ok`, an error.
    """

    side: Side
    runs: int
    measured: int
    censored: int = 0
    median: float | None = None
    values: tuple[float, ...] = ()
    outcomes: tuple[tuple[str, int], ...] = ()
    silent: str | None = None
    """Why a run told nothing: an unproven fault, a noisy machine."""


class SideComparison(Record):
    """One side held against the reference.

    `difference` is how far it lies above the reference (the median of all differences between two runs), the true one
    lies between `interval_low` and `interval_high` (None: not known on that side) but for the chance `level`. They
    agree where all of that lies within `bound`. Where runs go several `ways` (an order drawn by chance),
    `share_difference` is the largest difference between the parts of the runs that went one way, and has a bound and an
    interval of its own.
    """

    side: Side
    reference: Side
    outcome: Agreement
    bound: float
    level: float
    difference: float | None = None
    interval_low: float | None = None
    interval_high: float | None = None
    share_difference: float | None = None
    share_interval_low: float | None = None
    share_interval_high: float | None = None
    share_bound: float | None = None
    ways: int = 1
    needed: int | None = None
    """How many runs a side it takes, where there were too few."""
    reason: str | None = None
    source: str = ""
    """Of an explained difference: where the line that makes it stands."""


class AgreementRecord(Record):
    format: int = FORMAT
    scenario: str
    path: str
    client: str
    client_version: str
    broker: str = Field(EMBEDDED, exclude_if=lambda kind: kind == EMBEDDED)
    broker_version: str = Field("", exclude_if=lambda version: not version)
    brokers: int
    bootstrap: tuple[int, ...] = ()
    fault: str = ""
    """The names of the faults, in the order of steps."""
    parameters: tuple[NamedValue, ...] = ()
    measure: str
    """`<alias>.<measure>`, or `<alias>.outcome`."""
    unit: Literal["s", "count", "outcome"]
    formula: str | None = None
    terms: tuple[Term, ...] = ()
    predicted: float | None = None
    sides: tuple[SideResult, ...]
    compared: tuple[SideComparison, ...]
    outcome: Agreement
    """The worst of `compared`."""
