"""Protects the disk: a subject that writes its log without end is ended, and the beginning of its log is kept."""

import asyncio
import sys
from pathlib import Path

import pytest

from harness.environments.local import log_limit, subject
from harness.environments.world import Executable, LogLimitExceeded

LIMIT = 1 << 16
FLOODS = "import sys\nprint('the reason', file=sys.stderr)\nwhile True: print('z' * 1000, file=sys.stderr)"


async def flooded(says: str, log: Path) -> int | None:
    """The exit code of a program that is ended for its log."""
    process = await subject.start(Executable(argv=(sys.executable, "-c", says), launch={}), log, lambda: None)
    async with asyncio.timeout(20):
        with pytest.raises(LogLimitExceeded):
            async for _ in process.lines():
                pass
        return await process.end(grace_s=5)


def test_a_log_without_end_ends_its_subject(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_limit, "LOG_LIMIT_BYTES", LIMIT)
    log = tmp_path / "subject.log"

    assert asyncio.run(flooded(FLOODS, log)) == -9
    assert log.stat().st_size == LIMIT
    assert log.read_text().startswith("the reason\n")


def test_a_log_of_a_sensible_size_ends_nobody(tmp_path: Path) -> None:
    log = tmp_path / "subject.log"
    says = "import sys, time\nprint('x' * 100000, file=sys.stderr)\ntime.sleep(0.3)"

    async def quiet() -> int | None:
        process = await subject.start(Executable(argv=(sys.executable, "-c", says), launch={}), log, lambda: None)
        async for _ in process.lines():
            pass
        return await process.end(grace_s=5)

    assert asyncio.run(quiet()) == 0
    assert log.stat().st_size == 100001


def test_a_log_that_was_removed_meanwhile_is_limited_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_limit, "LOG_LIMIT_BYTES", LIMIT)
    log = tmp_path / "subject.log"
    floods = f"import os\nprint('removed')\nos.remove({str(log)!r})\n{FLOODS}"
    unhandled: list[dict[str, object]] = []

    async def watched() -> int | None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: unhandled.append(context))
        return await flooded(floods, log)

    assert asyncio.run(watched()) == -9
    assert not log.exists()
    assert not unhandled
