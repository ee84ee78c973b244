"""Runs every coroutine test that takes a `kit` (sockets and packet rules), a `cluster` (brokers alone) or a `world`
(brokers, proxies and levers; a `named_world` with names) twice: in the simulation, and for real in a cell.

Checks in cells mostly wait, so all that were selected run side by side, started when the first of them is asked for.
"""

import codecs
import inspect
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from worlds import RUNS

from harness.brokers.embedded.handlers import prepare_all
from harness.faults import FAULTS

LANES = 4
"""For each worker. With more cells than wait, all of them are late, and tests of real time have to run again."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    taken = _taken(metafunc.fixturenames)
    if taken is not None and inspect.iscoroutinefunction(metafunc.function):
        # With brokers and proxies, a cell takes a second of a processor.
        real = [pytest.mark.cell] if taken == "kit" else [pytest.mark.cell, pytest.mark.ci]
        places = [pytest.param(place, marks=() if place == "sim" else real) for place in RUNS[taken]]
        metafunc.parametrize(taken, places)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    where = _where(pyfuncitem)
    if where is None:
        return None
    if where == "sim":
        _check(pyfuncitem)()
    else:
        # One that runs again, since the machine was late, is started anew.
        first = _cells(pyfuncitem.session).pop(pyfuncitem.nodeid, None)
        _check(pyfuncitem)() if first is None else first.result()
    return True


def _taken(names: Iterable[str]) -> str | None:
    """Which of them a test asks for."""
    return next((name for name in names if name in RUNS), None)


def _where(item: pytest.Item) -> str | None:
    """`sim` or the name of a cell for a check, None for what is no check."""
    if not isinstance(item, pytest.Function) or not inspect.iscoroutinefunction(item.function):
        return None
    taken = _taken(item.fixturenames)
    return None if taken is None else item.callspec.params[taken]


def _check(item: pytest.Function) -> Callable[[], None]:
    """Runs the check where its parameter says."""
    taken = _taken(item.fixturenames)
    assert taken is not None
    check = partial(item.function, **{name: value for name, value in item.callspec.params.items() if name != taken})
    return partial(RUNS[taken][item.callspec.params[taken]], check)


_RUNNING = pytest.StashKey[dict[str, Future[None]]]()


def _cells(session: pytest.Session) -> dict[str, Future[None]]:
    if _RUNNING not in session.stash:
        # What a thread imports while another one forks is locked for ever in the fork, as are registries that it fills.
        codecs.lookup("idna")
        prepare_all()
        tuple(FAULTS)
        pool = ThreadPoolExecutor(LANES, thread_name_prefix="cell")
        session.stash[_RUNNING] = {
            item.nodeid: pool.submit(_check(item)) for item in session.items if _where(item) not in (None, "sim")
        }
        pool.shutdown(wait=False)
    return session.stash[_RUNNING]
