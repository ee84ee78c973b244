"""Which case a run belongs to: one key for grouping repeats, matching two suites, and comparing clients."""

from collections.abc import Iterable
from typing import Any, NamedTuple, TypeVar

from harness.records.agreement import AgreementRecord
from harness.records.group import GroupRecord
from harness.records.run import EMBEDDED, RunRecord

R = TypeVar("R", RunRecord, GroupRecord)

RELEASE_PARAMETER = "client.version"
"""The matrix parameter that chooses the client's release."""


class CaseKey(NamedTuple):
    """All that the repeats of a case have in common by name: everything but settings, seeds and the machine.

    Fields that a projection leaves out have their defaults. Keys sort by scenario first.
    """

    scenario: str
    client: str
    version: str = ""
    driver: str = ""
    environment: str = ""
    parameters: tuple[tuple[str, str], ...] = ()
    """Names and texts, in the order of the matrix."""
    broker: str = EMBEDDED
    broker_version: str = ""

    def without(self, *fields: str) -> "CaseKey":
        """The key with these fields at their defaults, so that cases which differ in nothing else are equal."""
        return self._replace(**{field: self._field_defaults[field] for field in fields})

    def as_json(self) -> dict[str, Any]:
        """An object with the fields in order. The broker is left out while it is the embedded one."""
        fields = self._asdict() | {"parameters": dict(self.parameters)}
        for later in ("broker", "broker_version"):
            if fields[later] == self._field_defaults[later]:
                del fields[later]
        return fields

    @property
    def in_any_release(self) -> "CaseKey":
        """Equal for all releases of a client, whether the scenario names one or its matrix does."""
        parameters = tuple(parameter for parameter in self.parameters if parameter[0] != RELEASE_PARAMETER)
        return self.without("version")._replace(parameters=parameters)

    @property
    def on_any_side(self) -> "CaseKey":
        """Equal for the profile and the real client, on real sockets and on virtual time."""
        return self.without("driver", "environment")


def case_key(record: RunRecord | GroupRecord | AgreementRecord) -> CaseKey:
    """The case that a record is about. An AgreementRecord is about a case on any side."""
    key = CaseKey(
        scenario=record.scenario,
        client=record.client,
        version=record.client_version,
        parameters=tuple((parameter.name, parameter.text) for parameter in record.parameters),
        broker=record.broker,
        broker_version=record.broker_version,
    )
    if isinstance(record, AgreementRecord):
        return key
    return key._replace(driver=record.driver, environment=record.environment)


def by_case(records: Iterable[R]) -> dict[CaseKey, list[R]]:
    """The records of each case, in the order in which the cases first appear."""
    together: dict[CaseKey, list[R]] = {}
    for record in records:
        together.setdefault(case_key(record), []).append(record)
    return together
