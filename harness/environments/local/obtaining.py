"""What cells need and no package brings, got before they are opened."""

from collections.abc import Callable

from harness.environments.local.cell import probe_namespaces
from harness.toxiproxy.obtain import ToxiproxyMissing, find, obtain


def obtain_toxiproxy(report: Callable[[str], None]) -> None:
    """Build the Toxiproxy server into the user's cache where this machine lacks it and could use it.

    `report` gets a line at each stage, and why it failed: the environment says then what is missing.
    """
    try:
        find()
    except ToxiproxyMissing as missing:
        if probe_namespaces() is not None:
            return
        try:
            obtain(report)
        except ToxiproxyMissing as failed:
            if failed.reason != missing.reason:
                report(f"toxiproxy: {failed.reason.removeprefix(missing.reason).lstrip('; ')}")
