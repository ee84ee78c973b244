"""What can keep a report from being made. Every text says what was wrong, where, and what to do."""

import shlex
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path


def install_command() -> str:
    """The command that installs what reports need. Of this very Python: there faultlab is installed already, so that no
    index is asked for a package of that name. pipx and uv may make environments without pip."""
    python = shlex.quote(sys.executable)
    if find_spec("pip") is not None:
        return f"{python} -m pip install 'faultlab[report]'"
    environment = Path(sys.prefix)
    if (environment / "pipx_metadata.json").is_file():
        return f"pipx runpip {shlex.quote(environment.name)} install 'faultlab[report]'"
    return f"uv pip install --python {python} 'faultlab[report]'"


def prepare_command() -> str:
    """The command that prepares Java. -I: a package `reports` where the user stands is not imported."""
    return f"{shlex.quote(sys.executable)} -I -m reports.jvm"


class ReportError(Exception):
    """A report could not be made. `text` says why, `remedy` what to do about it."""

    def __init__(self, text: str, remedy: str) -> None:
        super().__init__(f"{text}\n{remedy}")
        self.text = text
        self.remedy = remedy


class NothingToReport(ReportError):
    """There is no folder, no record, or no readable run."""


class NoSuchFolder(NothingToReport):
    """A folder was named that is not there."""


class ArchiveNotWritable(ReportError):
    """There is something at the archive's place already, or nothing can be written there."""


class ReportsNotInstalled(ReportError):
    """The Python packages of the `report` extra are not there."""

    def __init__(self, missing: Sequence[str]) -> None:
        super().__init__(
            f"reports need {', '.join(missing)}, which {'is' if len(missing) == 1 else 'are'} not installed",
            f"install the extra: {install_command()}",
        )


class JavaMissing(ReportError):
    """No Java runtime that Spark can use was found."""


class JavaFailed(ReportError):
    """A Java runtime was found, but Spark did not start on it, or died."""
