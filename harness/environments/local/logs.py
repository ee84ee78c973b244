"""Where the processes of a cell write: logs into the run's own folder, all else into the cell's tmpfs."""

import os
from pathlib import Path

from harness.environments.local.namespaces import CELL_FILES


class CellLogs:
    """`folder` None: logs stay in the cell and go with it."""

    def __init__(self, folder: Path | None) -> None:
        self._kept = folder is not None
        self._folder = self.temporary_folder("logs") if folder is None else folder

    def temporary_folder(self, name: str) -> Path:
        """A folder on the cell's own tmpfs."""
        folder = CELL_FILES / name
        folder.mkdir(exist_ok=True)
        return folder

    def open_for_append(self, name: str) -> int:
        """Open a log for appending; the file's number is the caller's to close."""
        return os.open(self._folder / name, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)

    def describe_tail(self, name: str) -> str:
        """Where the log is and how it ends, as the end of a sentence."""
        log = self._folder / name
        where = f"its log is {log}" if self._kept else "its log was not kept"
        try:
            lines = log.read_bytes()[-4096:].decode(errors="replace").strip().splitlines()
        except OSError:
            lines = []
        return f"{where}, last line: {lines[-1][:300]}" if lines else f"{where} and is empty"
