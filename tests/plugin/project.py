"""A project of somebody else's in a folder of its own, and the real pytest with the installed plugin run in it."""

import json
import os
import re
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

PYTEST = str(Path(sys.executable).with_name("pytest"))
NOT_THEIRS = ("-p", "no:hypothesispytest")
"""A plugin that is installed here for our own tests, and that takes as long to import as pytest."""
LIMIT_S = 110.0
OURS = re.compile(r"^(PYTEST|COLUMNS|CI$|FAULTLAB|NO_COLOR|FORCE_COLOR|BUILD_NUMBER)")

SCENARIO = """\
format: 1
scenario: {name}
about: A port goes dark.
tags: [{tags}]
client: {client}
settings: {settings}
cluster: {{brokers: {brokers}, topics: [{{name: orders}}]}}
steps:
  - {{do: connect}}
  - {{do: send, as: warm_up, expect: acknowledged}}
  - {{inject: blackhole, brokers: {dark}, as: outage}}
  - {{do: send, as: probe, give_up_after: 60s}}
expect:
  - {{measure: {measure}, {bound}}}
{matrix}
"""
SARAMA = "{profile: sarama, version: 1.27.2}"
READ = "equals: Net.ReadTimeout, within: 1% + 50ms"
WRONG = "equals: 2*Net.ReadTimeout, within: 1% + 50ms"


def scenario(
    name: str, *, bound: str = READ, tags: str = "sarama", client: str = SARAMA, brokers: int = 1, dark: str = "all",
    settings: str = "{Net.ReadTimeout: 2s, Net.DialTimeout: 1s, Producer.Retry.Max: 0}", matrix: str = "",
    measure: str = "probe.time_to_error",
) -> str:  # fmt: skip
    """The text of a scenario in which a send waits for Net.ReadTimeout."""
    return SCENARIO.format(
        name=name, bound=bound, tags=tags, client=client, brokers=brokers, dark=dark, settings=settings,
        matrix=f"matrix: {matrix}" if matrix else "", measure=measure,
    )  # fmt: skip


def untouched(name: str) -> str:
    """A scenario whose fault has no effect: the broker that goes dark is one that nobody speaks to."""
    return scenario(name, brokers=2, dark="[2]", measure="probe.time_to_ack", bound="at_most: 1s, within: 10ms")


@dataclass(frozen=True)
class Case:
    """A test case of the JUnit file: how it ended, in whose words, and its properties."""

    outcome: str
    text: str
    properties: dict[str, str]


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    cases: dict[str, Case]

    @property
    def outcomes(self) -> dict[str, str]:
        return {name: case.outcome for name, case in self.cases.items()}


class Project:
    """Files below `path`, and pytest in it."""

    def __init__(self, path: Path) -> None:
        self.path = path / "project"
        self.path.mkdir()
        self._temporary = path / "temporary"
        self._temporary.mkdir()
        (self.path / "pytest.ini").write_text("[pytest]\n")  # nothing above this folder is configuration

    def write(self, name: str, text: str) -> Path:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def environment(self, **more: str) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not OURS.match(name)}
        return {**kept, "PYTEST_DEBUG_TEMPROOT": str(self._temporary), "COLUMNS": "200", **more}

    def pytest(self, *arguments: str, env: str | None = "sim", **variables: str) -> Done:
        """Run pytest to its end; `env` is the world, None: nothing is said of it."""
        junit = self.path.parent / "junit.xml"
        junit.unlink(missing_ok=True)
        world = [] if env is None else [f"--faultlab-env={env}"]
        done = subprocess.run(
            [PYTEST, *NOT_THEIRS, *world, f"--junitxml={junit}", *arguments], cwd=self.path, text=True, timeout=LIMIT_S,
            env=self.environment(**variables), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
        )  # fmt: skip
        assert "INTERNALERROR" not in done.stdout, done.stdout
        cases = {case.name: case.told for case in _cases(junit)} if junit.exists() else {}
        return Done(done.returncode, done.stdout, cases)


@dataclass(frozen=True)
class _Named:
    name: str
    told: Case


def _cases(junit: Path) -> list[_Named]:
    return [_case(element) for element in ElementTree.parse(junit).getroot().iter("testcase")]


def _case(element: ElementTree.Element) -> _Named:
    properties = {p.attrib["name"]: p.attrib["value"] for p in element.iter("property")}
    ends = [child for child in element if child.tag in ("failure", "error", "skipped")]
    outcome = ends[0].tag if ends else "passed"
    text = f"{ends[0].attrib.get('message', '')}\n{ends[0].text or ''}" if ends else ""
    return _Named(element.attrib["name"], Case(outcome, text, properties))


def runs_in(folder: Path) -> dict[str, list[str]]:
    """The scenarios of which each results folder has runs."""
    return {
        path.parent.name: sorted(json.loads(line)["scenario"] for line in path.read_text().splitlines())
        for path in sorted(folder.glob("*/runs.jsonl"))
    }


def processes_about(path: Path) -> list[int]:
    """Processes that have this project's path in their command line, their environment, or as their folder."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            words = [_bytes(entry / "cmdline"), _bytes(entry / "environ")]
            with suppress(OSError):
                words.append(os.fsencode((entry / "cwd").readlink()))
            if any(os.fsencode(path.parent) in word for word in words):
                found.append(int(entry.name))
    return found


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""
