"""From a plan to the bundled profile that it names."""

from client.profiles import profile
from client.profiles.contract import Profile
from harness.plan import ClientPlan


def profile_of(plan: ClientPlan) -> Profile | None:
    """The profile of a bundled client, None for a program of the user's."""
    return profile(plan.profile) if plan.profile is not None else None
