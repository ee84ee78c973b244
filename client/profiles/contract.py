"""What every profile offers: its releases, its settings, and sessions that behave with the real client's timing."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Protocol

from client.errors import SettingError
from client.operations import Handler, Handles
from client.runtime import ClientRuntime, Resolver
from client.security.credentials import Credentials
from client.settings import Conflict, Settings, SettingsTable, SettingValue

Address = tuple[str, int]


class ProfileSession(Protocol):
    """One subject's client: a program that holds handles by name and carries out operations on them.

    What several handles of the real client share (a pool of connections, a transport) belongs to the session. The
    subject ends once `handles` are closed.
    """

    @property
    def handles(self) -> Handles[Any]: ...

    @property
    def handlers(self) -> Mapping[str, Handler]:
        """What the client can be asked for, by the operation's name."""
        ...


class OpenSession(Protocol):
    """Opens a session without constructing anything of the real client. `producer` is one of the profile's, None: the
    usual one."""

    def __call__(
        self, runtime: ClientRuntime, settings: Settings, bootstrap: Sequence[Address], *, producer: str | None
    ) -> ProfileSession: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One real client. `releases` are the versions that it reproduces, oldest first; others are refused.

    `producers` are the names that a scenario may give (`client.producer`), none where there is only one producer.
    `no_deadline` says of each operation that takes no `deadline:` why not, in the real client's terms. `functions` are
    names that formulas may call with this profile's settings in scope. `conflicts` finds settings that the real client
    refuses together, though each is right by itself. `prepare` loads what would otherwise be loaded on first use, so
    that no operation is slowed by it: called before `ready`, free the second time. `credentials` names the settings
    that hold the user and the password, which get the launch record's where they are empty; None: there are no such.
    `resolver` is how the client asks a name server at that address, None: it knows addresses alone.
    """

    name: str
    about: str
    releases: tuple[str, ...]
    settings: SettingsTable
    open: OpenSession
    producers: tuple[str, ...] = ()
    no_deadline: Mapping[str, str] = field(default_factory=dict)
    functions: Mapping[str, Callable[..., float]] = field(default_factory=dict)
    conflicts: Callable[[Settings], Sequence[Conflict]] = lambda _settings: ()
    prepare: Callable[[], None] = lambda: None
    credentials: tuple[str, str] | None = None
    resolver: Callable[[Address, Random], Resolver] | None = None

    def with_credentials(
        self, settings: Mapping[str, SettingValue], credentials: Credentials | None
    ) -> Mapping[str, SettingValue]:
        """The settings, with these credentials where they have none of their own."""
        if credentials is None or self.credentials is None:
            return settings
        user, password = self.credentials
        own = {name: value for name, value in settings.items() if value != "" or name not in self.credentials}
        return {user: credentials.user, password: credentials.password, **own}

    def check_producer(self, producer: str | None) -> None:
        """Raises SettingError for a producer that the client does not have."""
        if producer is not None and producer not in self.producers:
            known = ", ".join(self.producers) or "one, which has no name"
            raise SettingError("producer", f"{self.name} has no producer {producer}, only {known}")
