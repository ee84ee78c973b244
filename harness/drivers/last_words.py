"""What a program said on its standard error before it ended: the reason, in its own words."""

from pathlib import Path

READ_BYTES = 8192
LONGEST = 300
_PANIC = ("panic: ", "fatal error: ")
"""How Go begins the line that says why; what is behind it says where."""


def last_words(log: Path | None) -> str:
    """The line that says why the program ended: that of a panic, else the last one. Empty where there is none."""
    if log is None or not log.is_file():
        return ""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - READ_BYTES))
        lines = [line.strip() for line in file.read().decode(errors="replace").splitlines() if line.strip()]
    panics = [line for line in lines if line.startswith(_PANIC)]
    said = panics[0] if panics else lines[-1] if lines else ""
    return said if len(said) <= LONGEST else f"{said[:LONGEST]}..."
