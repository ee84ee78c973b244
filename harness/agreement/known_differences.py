"""Known differences: a file beside the scenarios lists each one with the source line that causes it.

A difference without such a line is a bug of the profile or of the simulation.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from harness.records.agreement import AgreementRecord, Side, SideComparison

FILE_NAME = "differences.yaml"


class DifferencesUnreadable(Exception):
    """The file cannot be read or is malformed: `problem` says why, `remedy` what to do."""

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(f"{problem}; {remedy}")
        self.problem = problem
        self.remedy = remedy


class KnownDifference(BaseModel):
    """`side` differs from the reference in a measure of a scenario, in these `versions` or in all.

    `because` says what, `source` where the line is: `IBM/sarama v1.60.1 broker.go`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    scenario: str
    measure: str
    side: Side
    versions: tuple[str, ...] = ()
    because: str
    source: str

    def explains(self, record: AgreementRecord, compared: SideComparison) -> bool:
        there = (record.scenario, record.measure, compared.side) == (self.scenario, self.measure, self.side)
        return there and (not self.versions or record.client_version in self.versions)


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    differences: tuple[KnownDifference, ...]


def mark_explained(records: Sequence[AgreementRecord]) -> Iterator[AgreementRecord]:
    """The records, with every known difference marked as explained.

    Raises DifferencesUnreadable, also where nothing differs, so that a mistake in the file is found at once.
    """
    for record in records:
        known = _known_differences(Path(record.path).parent)
        compared = tuple(_mark_explained(record, one, known) for one in record.compared)
        yield record if compared == record.compared else record.model_copy(update={"compared": compared})


def _mark_explained(
    record: AgreementRecord, compared: SideComparison, known: Sequence[KnownDifference]
) -> SideComparison:
    reason = next((one for one in known if one.explains(record, compared)), None)
    if compared.outcome != "differs" or reason is None:
        return compared
    return compared.model_copy(update={"outcome": "explained", "reason": reason.because, "source": reason.source})


@lru_cache
def _known_differences(folder: Path) -> tuple[KnownDifference, ...]:
    file = folder / FILE_NAME
    try:
        found = YAML(typ="safe", pure=True).load(file.read_text(encoding="utf-8"))
        return _File.model_validate(found).differences
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise DifferencesUnreadable(f"cannot read {file}: {error.strerror}", "check its permissions") from error
    except (YAMLError, UnicodeDecodeError) as error:
        raise DifferencesUnreadable(f"{file} is no YAML: {' '.join(str(error).split())}", "mend it") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise DifferencesUnreadable(
            f"{file}: {where}: {first['msg']}",
            "each of `differences` has scenario, measure, side, because and source, and perhaps versions",
        ) from error
