"""What can keep a report from being made. Every text says what was wrong, where, and what to do."""

from collections.abc import Sequence


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


class ReportsNotInstalled(ReportError):
    """The Python packages of the `report` extra are not there."""

    def __init__(self, missing: Sequence[str]) -> None:
        super().__init__(
            f"reports need {', '.join(missing)}, which {'is' if len(missing) == 1 else 'are'} not installed",
            "install the extra: pip install './[report]'",
        )


class JavaMissing(ReportError):
    """No Java runtime that Spark can use was found."""


class JavaFailed(ReportError):
    """A Java runtime was found, but Spark did not start on it, or died."""
