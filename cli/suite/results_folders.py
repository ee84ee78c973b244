"""The default place of results."""

import os
from pathlib import Path

from harness.records.reader import folders

RESULTS = Path("results")
"""In the current folder."""


def unused_results_folder(name: str) -> Path:
    """results/<name>, with a number where that is taken: several suites may begin in one minute."""
    folder, number = RESULTS / name, 2
    while folder.exists():
        folder = RESULTS / f"{name}-{number}"
        number += 1
    return folder


def suites_newest_first() -> list[Path]:
    """The suites below `results`, or that folder itself where it was given as a suite's own (`--out results`)."""
    below = folders(RESULTS)
    if not below and os.access(RESULTS / "manifest.json", os.R_OK):
        return [RESULTS]
    return below
