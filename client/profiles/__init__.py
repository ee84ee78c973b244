"""The real clients that are reproduced. Each package in here holds a `PROFILE`."""

from difflib import get_close_matches
from functools import cache

from client.errors import SettingError
from client.extensions import modules
from client.profiles.contract import Profile

__all__ = ["Profile", "check_release", "profile", "profiles"]


@cache
def profiles() -> dict[str, Profile]:
    """Every profile by its name, in the order of their names."""
    found: dict[str, Profile] = {}
    for module in modules(__name__, "profiles"):
        one: Profile | None = getattr(module, "PROFILE", None)
        if one is not None:
            assert one.name not in found, f"two profiles are called {one.name}"
            found[one.name] = one
    return dict(sorted(found.items()))


def profile(name: str) -> Profile:
    """Raises SettingError, with the nearest name, where there is no such profile."""
    known = profiles()
    if name not in known:
        near = get_close_matches(name, known, n=1)
        raise SettingError("profile", f"there is no profile {name}, only {', '.join(known)}", near[0] if near else None)
    return known[name]


def check_release(one: Profile, version: str) -> None:
    """Raises SettingError, with the nearest version, for one that the profile does not reproduce: never rounded."""
    if version not in one.releases:
        near = get_close_matches(version, one.releases, n=1, cutoff=0.0)
        raise SettingError(
            "version",
            f"{one.name} {version} is not reproduced, only {', '.join(one.releases)}",
            near[0] if near else None,
        )
