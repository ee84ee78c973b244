"""Who a client says that it is."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """A user and the password, which no repr and so no log shows."""

    user: str
    password: str = field(repr=False)
