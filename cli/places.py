"""Where results are put that nobody named a place for."""

from pathlib import Path

RESULTS = Path("results")
"""Below the folder in which the command is given."""


def free_folder(name: str) -> Path:
    """results/<name>, with a number where that is taken: several suites may begin in one minute."""
    folder, number = RESULTS / name, 2
    while folder.exists():
        folder = RESULTS / f"{name}-{number}"
        number += 1
    return folder
