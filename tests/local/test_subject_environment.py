"""Protects credentials in a user's shell from the logs of programs under test, and programs from missing what they
need."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

from harness.environments.local import subject
from harness.environments.local.subject_environment import PASSED, subject_environment
from harness.environments.world import Executable

SAYS = "import json, os; print(json.dumps(dict(os.environ)))"
USUAL = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "SSL_CERT_FILE", "VIRTUAL_ENV", "PYTHONPATH", "JAVA_HOME",
         "TOXIPROXY_SERVER", "GOMAXPROCS")  # fmt: skip
SECRET = ("AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "GOOGLE_APPLICATION_CREDENTIALS", "PIP_INDEX_URL", "SSH_AUTH_SOCK")


async def seen_by_a_program(*named: str) -> dict[str, str]:
    program = Executable(argv=(sys.executable, "-c", SAYS), launch={"protocol": 1}, pass_env=named)
    process = await subject.start(program, None, lambda: None)
    batch = await anext(process.lines())
    await process.end(grace_s=5.0)
    found: dict[str, str] = json.loads(bytes(batch.lines[0]))
    return found


def test_a_program_gets_what_programs_need_and_what_its_scenario_names(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*USUAL[1:], *SECRET, "ORDERS_USER", "ORDERS_TOKEN"):
        monkeypatch.setenv(name, "there")
    usual = asyncio.run(seen_by_a_program())
    assert set(USUAL) <= usual.keys()
    assert not usual.keys() & {*SECRET, "ORDERS_USER", "ORDERS_TOKEN"}
    assert json.loads(usual["FAULTLAB_SUBJECT"]) == {"protocol": 1}
    named = asyncio.run(seen_by_a_program("ORDERS_*", "GITHUB_TOKEN", "NOT_SET"))
    assert {*USUAL, "ORDERS_USER", "ORDERS_TOKEN", "GITHUB_TOKEN"} <= named.keys()
    assert not named.keys() & {"AWS_SECRET_ACCESS_KEY", "NOT_SET"}


def test_a_beginning_of_a_name_is_no_name() -> None:
    there = {"PATHS": "1", "MY_PATH": "2", "GOPROXY": "3", "LC_TIME": "4", "home": "5"}
    assert subject_environment(there, ()) == {"LC_TIME": "4"}


def test_the_page_on_security_names_each_variable_that_is_passed() -> None:
    page = (Path(__file__).parents[2] / "docs" / "SECURITY.md").read_text()
    assert [name for name in PASSED if f"`{name}`" not in page] == []
