"""The engine as a child process, and what it found as plain values: no pytest, nothing but the standard library.

The child is isolated from PYTHONPATH, the current folder and this process's sys.path, and it answers in JSON. So a
project may have packages named client, cli, harness or reports of its own: theirs and ours never meet.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

PATIENCE_S = 15.0
"""How long the engine may take to end in good order before it is killed."""

HOME = Path(__file__).resolve().parent
BEGIN = """\
import sys
sys.path.insert(0, sys.argv.pop(1))
from harness.environments.local.syscalls import die_with_parent
die_with_parent(int(sys.argv.pop(1)))
from cli.main import main
sys.exit(main())
"""
"""This module's folder comes first: whatever else is installed, the engine finds its own packages. And it ends with the
process that asked it, even where that one is killed."""

USAGE, NOTHING = 4, 5
"""Exit codes of faultlab: a scenario or an option is wrong; nothing was selected."""

Verdict = Literal["pass", "fail", "inconclusive", "skipped", "lab_error"]


class ScenarioMistakes(ValueError):
    """A scenario is wrong, or cannot be run there: the text has every mistake with its line and column."""


class LabFailed(RuntimeError):
    """The lab itself could not run it, or stopped: this says nothing about the client."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """One row of where an operation's time went: how often and how long it waited on a setting, beside the formula.

    `setting` is None for a term of the formula that is no wait; `predicted_count` where the formula has no number of
    times. A `measured_count` counts waits that took all the time they had.
    """

    name: str
    setting: str | None
    predicted_count: float | None
    predicted_s: float
    measured_count: int
    measured_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
    """A scenario with one set of parameters, all repeats together.

    `measures` are medians over the repeats by their names (`probe.time_to_error`): seconds, or counts. What had not
    ended when the lab gave up stands in `at_least` instead, with its lower bound. `outcomes` (`ok`, `failed`,
    `censored`) and `errors` go by the operations' names, those of the run that stands for the case: the first of the
    worst. `where` is where the time of that run's leading expectation went, empty where the client tells no waits.
    `summary` is a line, `text` what faultlab shows for what did not pass.
    """

    id: str
    scenario: str
    client: str
    client_version: str
    environment: Literal["sim", "local"]
    parameters: Mapping[str, str]
    settings: Mapping[str, str]
    verdict: Verdict
    blame: Literal["lab", "subject"] | None
    reasons: tuple[str, ...]
    summary: str
    text: str
    predicted: str | None
    measured: str | None
    measures: Mapping[str, float]
    at_least: Mapping[str, float]
    outcomes: Mapping[str, str]
    errors: Mapping[str, str]
    where: tuple[Wait, ...]
    replay: str

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> "CaseResult":
        """From the engine's own words."""
        operations, measures, where = told["operations"], told["measures"], told["where"]
        known = {name: m for name, m in measures.items() if m["value"] is not None}
        plain = {name: told[name] for name in cls.__dataclass_fields__ if name in told}
        return cls(
            **{
                **plain,
                "reasons": tuple(told["reasons"]),
                "measures": {name: m["value"] for name, m in known.items() if not m["censored"]},
                "at_least": {name: m["value"] for name, m in known.items() if m["censored"]},
                "outcomes": {alias: operation["outcome"] for alias, operation in operations.items()},
                "errors": {alias: o["error"] for alias, o in operations.items() if o["error"] is not None},
                "where": tuple(Wait(**row) for row in where["rows"]) if where is not None else (),
            }
        )

    def measure(self, name: str) -> float:
        """A measure that was measured. Raises LookupError that says what there is instead."""
        if name in self.measures:
            return self.measures[name]
        if name in self.at_least:
            raise LookupError(f"{name} had not ended after {self.at_least[name]:.3f} s, when the lab gave up")
        raise LookupError(f"{self.id} measured no {name}; it measured {', '.join(self.measures) or 'nothing'}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A suite's end. `results` is the folder that `faultlab report` and `faultlab replay --in` take.

    The properties are those of the only case; they raise LookupError where there are several.
    """

    verdict: Verdict
    environment: Literal["sim", "local"]
    seed: int
    results: Path
    cases: tuple[CaseResult, ...]

    @classmethod
    def of(cls, told: Mapping[str, Any], folder: Path) -> "Result":
        """From the engine's closing document; `folder` is where it stood."""
        cases = tuple(CaseResult.of(case) for case in told["cases"])
        there = {case.verdict for case in cases}
        gravest: tuple[Verdict, ...] = ("fail", "lab_error", "inconclusive", "skipped")
        return cls(
            verdict=next((verdict for verdict in gravest if verdict in there), "pass" if cases else "inconclusive"),
            environment=told["environment"],
            seed=told["seed"],
            results=folder / told["results"],
            cases=cases,
        )

    def case(self, case_id: str | None = None) -> CaseResult:
        """The case of this id, or the only one. Raises LookupError with the ids that there are."""
        found = [case for case in self.cases if case_id in (None, case.id)]
        if len(found) != 1:
            raise LookupError(f"name one of the cases: {', '.join(case.id for case in self.cases)}")
        return found[0]

    def measure(self, name: str) -> float:
        """`CaseResult.measure` of the only case."""
        return self.case().measure(name)

    @property
    def measures(self) -> Mapping[str, float]:
        return self.case().measures

    @property
    def outcomes(self) -> Mapping[str, str]:
        return self.case().outcomes

    @property
    def errors(self) -> Mapping[str, str]:
        return self.case().errors

    @property
    def where(self) -> tuple[Wait, ...]:
        return self.case().where

    @property
    def text(self) -> str:
        """What faultlab shows for what did not pass."""
        return "\n\n".join(case.text for case in self.cases if case.text)


class Engine:
    """One command of faultlab, running. Ends with `end`, or by itself; nothing of it outlives this process."""

    def __init__(self, arguments: Sequence[str], *, cwd: Path) -> None:
        self._said = tempfile.TemporaryFile()  # noqa: SIM115  (a pipe that nobody reads would stop the engine)
        command = [sys.executable, "-I", "-c", BEGIN, str(HOME), str(os.getpid()), *arguments]
        # A group of its own: Ctrl-C in a terminal reaches this process alone, which then says it to the engine once.
        self._process = subprocess.Popen(
            command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self._said, process_group=0
        )

    def line(self) -> dict[str, Any] | None:
        """The next line of JSON; None when the engine has ended."""
        assert self._process.stdout is not None
        text = b"" if self._process.stdout.closed else self._process.stdout.readline()
        if not text.endswith(b"\n"):
            self._process.wait()
            return None
        found: dict[str, Any] = json.loads(text)
        return found

    def document(self) -> dict[str, Any] | None:
        """All that is said on stdout, once the engine has ended; None where it has nothing to say."""
        assert self._process.stdout is not None
        try:
            text = self._process.stdout.read()
            self._process.wait()
        finally:
            self.end()
        found: dict[str, Any] | None = json.loads(text) if text.strip() else None
        return found

    def failure(self) -> Exception:
        """Why the engine ended without an answer."""
        self._said.seek(0)
        said = self._said.read().decode(errors="replace").strip()
        if self._process.returncode in (USAGE, NOTHING):
            return ScenarioMistakes(said)
        return LabFailed(f"faultlab ended without an answer (exit {self._process.returncode})\n{said}".rstrip())

    def end(self) -> None:
        """Have it end in good order, where it has not: runs under way are stopped, what ended is kept."""
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(PATIENCE_S)
            except BaseException:
                self._process.kill()
                self._process.wait()
                with suppress(OSError):
                    os.killpg(self._process.pid, signal.SIGKILL)
                raise
        if self._process.stdout is not None:
            self._process.stdout.close()


class Batch:
    """Cases that one engine runs side by side; each is told as soon as it is over, in whatever order they are asked."""

    def __init__(
        self, options: Sequence[str], files: Sequence[str], cases: Sequence[str], out: Path, cwd: Path
    ) -> None:
        chosen = [part for case in cases for part in ("--case", case)]
        self._engine = Engine(["run", "--stream", *options, *chosen, "--out", str(out), "--", *files], cwd=cwd)
        self._out = out
        self._open = set(cases)
        self._told: dict[str, dict[str, Any]] = {}
        self._failure: Exception | None = None

    def __contains__(self, case: str) -> bool:
        return case in self._open

    def case(self, case: str) -> dict[str, Any]:
        """What the engine says of a case, with the folder of its `results`, or the `text` that says why it cannot be
        run. Waits for its end. Raises LabFailed, ScenarioMistakes: then for every case that is still open."""
        while case not in self._told:
            if self._failure is not None:
                raise self._failure
            line = self._engine.line()
            if line is None:
                self._failure = self._engine.failure()
            elif "case" in line:
                self._told[line["case"]["id"]] = {**line["case"], "results": str(self._out)}
            elif "impossible" in line:
                self._told.update(dict.fromkeys(line["impossible"]["ids"], line["impossible"]))
        self._open.discard(case)
        return self._told.pop(case)

    def end(self) -> None:
        """In peace where every case was asked for, else by stopping what is under way. May be called again."""
        try:
            while not self._open and self._engine.line() is not None:
                pass  # the last line is the whole suite
        finally:
            self._open.clear()
            self._engine.end()
