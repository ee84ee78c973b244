"""Parts of a job's log that fold: its reader sees their titles first.

Groups do not nest, because GitHub's do not. Sources: GitHub's workflow commands (`::group::`), GitLab's job logs
(`section_start`).
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import count

from cli.ci.annotations import escaped
from cli.ci.log import LogStream, sanitized
from cli.ci.systems import System, detect_system

ERASE = "\x1b[0K"
"""What GitLab asks for around a mark, so that terminals do not show it."""

_numbers = count(1)


@contextmanager
def group(stream: LogStream, title: str, system: System | None = None) -> Iterator[None]:
    """What is written inside belongs together under `title`. Closed however the block is left."""
    chosen = detect_system() if system is None else system
    shown = sanitized(" ".join(title.split()))
    section = f"faultlab_{next(_numbers)}_{re.sub(r'[^a-z0-9]+', '_', shown.lower())[:40].strip('_')}"
    match chosen:
        case System.GITHUB:
            stream.command(f"::group::{escaped(shown)}")
        case System.GITLAB:
            stream.command(f"{ERASE}section_start:{_now()}:{section}[collapsed=true]\r{ERASE}{shown}")
        case System.OTHER:
            stream.command(f"== {shown}")
    try:
        yield
    finally:
        match chosen:
            case System.GITHUB:
                stream.command("::endgroup::")
            case System.GITLAB:
                stream.command(f"{ERASE}section_end:{_now()}:{section}\r{ERASE}")
            case System.OTHER:
                stream.command("")


def _now() -> int:
    """Wall clock, in whole seconds: GitLab shows the difference."""
    return int(datetime.now(UTC).timestamp())
