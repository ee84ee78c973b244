"""Runs every coroutine test that takes a `kit` twice: on simulated sockets, and on real ones in a cell.

Checks in cells mostly wait, so all that were selected run side by side, started when the first of them is asked for.
"""

import inspect
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from worlds import run_in_cell, run_in_sim

LANES = 8


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "kit" in metafunc.fixturenames and inspect.iscoroutinefunction(metafunc.function):
        metafunc.parametrize("kit", ["sim", pytest.param("cell", marks=pytest.mark.cell)])


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    if not _is_check(pyfuncitem):
        return None
    if pyfuncitem.callspec.params["kit"] == "sim":
        run_in_sim(_check(pyfuncitem))
    else:
        _cells(pyfuncitem.session)[pyfuncitem.nodeid].result()
    return True


def _is_check(item: pytest.Item) -> bool:
    return (
        isinstance(item, pytest.Function)
        and inspect.iscoroutinefunction(item.function)
        and "kit" in getattr(item, "callspec", inspect).__dict__.get("params", {})
    )


def _check(item: pytest.Function) -> partial:
    arguments = {name: value for name, value in item.callspec.params.items() if name != "kit"}
    check = partial(item.function, **arguments)
    check.__name__ = item.name  # type: ignore[attr-defined]
    return check


_RUNNING = pytest.StashKey[dict[str, Future[None]]]()


def _cells(session: pytest.Session) -> dict[str, Future[None]]:
    if _RUNNING not in session.stash:
        pool = ThreadPoolExecutor(LANES, thread_name_prefix="cell")
        session.stash[_RUNNING] = {
            item.nodeid: pool.submit(run_in_cell, _check(item))
            for item in session.items
            if _is_check(item) and item.callspec.params["kit"] == "cell"
        }
        pool.shutdown(wait=False)
    return session.stash[_RUNNING]
