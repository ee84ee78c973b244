"""Releases of Sarama that the profile reproduces: one row a release, one field an upstream change.

A release that is not here is refused: neighbours differ in just what the lab measures.
"""

from dataclasses import dataclass

from client.errors import SettingError


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """`source` names repository and tag; `default_version` is DefaultVersion and `versions` what it calls
    SupportedVersions, as far as they have record batches (Kafka 0.11 and later)."""

    version: str
    source: str
    default_version: str
    versions: tuple[str, ...]


_V1_27_2 = Release(
    version="1.27.2",
    source="Shopify/sarama v1.27.2",
    default_version="1.0.0",
    versions=(
        "0.11.0.0", "0.11.0.1", "0.11.0.2", "1.0.0", "1.1.0", "1.1.1", "2.0.0", "2.0.1", "2.1.0", "2.2.0", "2.3.0",
        "2.4.0", "2.5.0", "2.6.0",
    ),
)  # fmt: skip

RELEASES = {release.version: release for release in (_V1_27_2,)}
"""By version, oldest first."""


def release_of(version: str) -> Release:
    """Raises SettingError for a version that is not reproduced."""
    try:
        return RELEASES[version]
    except KeyError:
        raise SettingError("version", f"sarama {version} is not reproduced, only {', '.join(RELEASES)}") from None
