"""Settings as the real clients name them: a table with unit, default and check for each, and resolved values."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal, TypeVar

from client.errors import ClientError, SettingError

T = TypeVar("T")

SettingValue = float | int | str | bool
SettingKind = Literal["duration", "count", "choice", "text", "flag"]
HealthyWait = Literal["dial", "answer"]
"""What a healthy peer takes time for: to accept a connection, to answer a request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One setting. A duration's value is in seconds.

    `check` returns what is wrong with a value, None where nothing is, in the real client's words where it has some.
    `reads` returns what the real client takes a value for, where that may be another one: its default for what is not
    above zero, for instance.
    `releases` names those that have the setting; empty: all. A setting that changed stands in a row for each.
    `limits` says what a duration is the limit of; empty: of nothing that a peer does.
    """

    name: str
    kind: SettingKind
    default: SettingValue
    about: str = ""
    choices: tuple[str, ...] = ()
    check: Callable[[SettingValue], str | None] | None = None
    reads: Callable[[float], float] | None = None
    releases: tuple[str, ...] = ()
    limits: tuple[HealthyWait, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """Two settings whose values the real client refuses together: with `setting` as it is, `other` should be `wanted`.
    `error` is what its constructor raises."""

    setting: str
    other: str
    wanted: str
    error: ClientError


class Settings(Mapping[str, SettingValue]):
    """Every setting of `release` with its value: given ones, and defaults for the rest."""

    def __init__(self, values: Mapping[str, SettingValue], *, release: str = "") -> None:
        self.release = release
        self._values = dict(values)
        self._derived: dict[Callable[[Settings], Any], Any] = {}

    def __getitem__(self, name: str) -> SettingValue:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def derive(self, make: "Callable[[Settings], T]") -> T:
        """What `make` returns for these settings; computed once."""
        if make not in self._derived:
            self._derived[make] = make(self)
        made: T = self._derived[make]
        return made

    def seconds(self, name: str) -> float:
        """A duration, in seconds."""
        return float(self._values[name])

    def count(self, name: str) -> int:
        return int(self._values[name])

    def text(self, name: str) -> str:
        return str(self._values[name])

    def flag(self, name: str) -> bool:
        return bool(self._values[name])


_MAX_CACHED_RESOLVED = 64


class SettingsTable:
    """All settings of a profile, by name, in the order in which its documentation lists them."""

    def __init__(self, profile: str, settings: tuple[Setting, ...]) -> None:
        self.profile = profile
        self._rows: dict[str, list[Setting]] = {}
        for setting in settings:
            self._rows.setdefault(setting.name, []).append(setting)
        self._by_release: dict[str, tuple[Setting, ...]] = {}
        self._resolved: dict[object, Settings] = {}

    def for_release(self, release: str) -> tuple[Setting, ...]:
        """The settings that this release has."""
        if release not in self._by_release:
            self._by_release[release] = tuple(
                row for rows in self._rows.values() for row in rows if _available_in(row, release)
            )
        return self._by_release[release]

    def find(self, name: str, release: str) -> Setting:
        """The setting called `name`. Raises SettingError with the nearest name where the release has none."""
        rows = self._rows.get(name)
        if rows is None:
            known = [setting.name for setting in self.for_release(release)]
            near = get_close_matches(name, known, n=1)
            raise SettingError(name, f"{self.profile} has no setting {name}", near[0] if near else None)
        for row in rows:
            if _available_in(row, release):
                return row
        has = ", ".join(version for row in rows for version in row.releases)
        raise SettingError(name, f"{self.profile} {release} has no setting {name} (only {has})")

    def check(self, name: str, value: SettingValue, release: str) -> None:
        """Raises SettingError where the real client would refuse the value."""
        setting = self.find(name, release)
        if setting.kind == "choice" and value not in setting.choices:
            near = get_close_matches(str(value), setting.choices, n=1)
            known = ", ".join(setting.choices)
            raise SettingError(name, f"{name} is one of {known}, not {value}", near[0] if near else None)
        wrong = setting.check(value) if setting.check is not None else None
        if wrong is not None:
            raise SettingError(name, wrong)

    def resolve(self, given: Mapping[str, SettingValue], release: str) -> Settings:
        """Defaults overridden by `given`, each value checked, and taken as the real client reads it. Durations are in
        seconds. Raises SettingError."""
        # Runs of one case give the same again and again. Types count too: 1, 1.0 and true are equal.
        key = release, tuple(given.items()), tuple(map(type, given.values()))
        found = self._resolved.get(key)
        if found is None:
            for name, value in given.items():
                self.check(name, value, release)
            if len(self._resolved) >= _MAX_CACHED_RESOLVED:
                self._resolved.clear()
            found = Settings({s.name: _read(s, given) for s in self.for_release(release)}, release=release)
            self._resolved[key] = found
        return found


def _read(setting: Setting, given: Mapping[str, SettingValue]) -> SettingValue:
    value = given.get(setting.name, setting.default)
    return value if setting.reads is None or isinstance(value, str) else setting.reads(value)


def _available_in(setting: Setting, release: str) -> bool:
    return not setting.releases or release in setting.releases
