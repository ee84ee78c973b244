"""The summary of a job: Markdown that GitHub shows on the job's page (and Gitea and Forgejo ignore)."""

import os
from collections.abc import Mapping
from pathlib import Path

VARIABLE = "GITHUB_STEP_SUMMARY"
MAX_SUMMARY_BYTES = 1_000_000
"""GitHub refuses a step's whole summary above 1 MiB."""


def append_summary(markdown: str, environment: Mapping[str, str] = os.environ) -> str | None:
    """Append to the file that the CI system names, if it names one; nothing where what it says is full.

    Lines that do not fit are left out from the end, which is said. Why it could not be written; None if all is well.
    """
    name = environment.get(VARIABLE)
    if not name:
        return None
    path = Path(name)
    try:
        there = path.stat().st_size if path.exists() else 0
        with path.open("a", encoding="utf-8") as file:
            file.write(_cut(markdown.rstrip("\n") + "\n\n", MAX_SUMMARY_BYTES - there))
    except OSError as error:
        return f"cannot write the job's summary: {path}: {error.strerror or error}"
    return None


def summary_write_error(environment: Mapping[str, str] = os.environ) -> str | None:
    """Why a summary could not be written, None where it could be or none is asked for."""
    name = environment.get(VARIABLE)
    if not name:
        return None
    path = Path(name)
    there = path if path.exists() else path.parent
    if there.exists() and os.access(there, os.W_OK):
        return None
    return f"{VARIABLE} names {path}, which cannot be written"


def _cut(text: str, available_bytes: int) -> str:
    if len(text.encode()) <= available_bytes:
        return text
    lines = text.splitlines(keepends=True)
    note = "\nCut at GitHub's limit of 1 MiB; the report has the rest.\n"
    kept, left = list[str](), available_bytes - len(note.encode())
    for line in lines:
        left -= len(line.encode())
        if left < 0:
            break
        kept.append(line)
    return "".join(kept) + note if kept else ""
