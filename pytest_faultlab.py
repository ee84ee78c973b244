"""pytest plugin: scenarios are collected as tests, and tests of your own run scenarios with the fixture `lab`.

Imports pytest, the standard library, and the modules `pytest_faultlab_*` beside it, which do the same: faultlab itself
runs in a child process. One command of it runs all selected cases of a session side by side. It starts when the first
of them is asked for; each test ends as soon as its own case is over. Workers of xdist share that process and that
command.
"""

import os
import shlex
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import nullcontext, suppress
from itertools import count
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, NoReturn

import pytest

from pytest_faultlab_engine import Request, scenario_argument, settings_arguments
from pytest_faultlab_options import Options
from pytest_faultlab_results import CaseResult, LabFailed, Result, ScenarioMistakes, Wait
from pytest_faultlab_runner import Runner, SessionRunner
from pytest_faultlab_sharing import RemoteRunner, RunnerServer

__all__ = ["CaseResult", "Lab", "LabFailed", "Result", "ScenarioMistakes", "Wait", "lab"]

SCENARIO_SUFFIX = ".scenario.yaml"
RESULTS, NOTE = "faultlab_results", "faultlab_note"
"""Properties of a test: the folder of its runs (up to MAX_FOLDERS are named one by one), and why it ran in
that world."""
MAX_FOLDERS = 3
SERVER = "faultlab_server"
"""What a worker of xdist is given: the folder of the session's `RunnerServer`."""


class Session:
    """What all scenarios of a session share: the catalogue of cases, and what runs them."""

    def __init__(self, config: pytest.Config) -> None:
        self.options = Options.of(config)
        self.folder = config.invocation_params.dir
        self._config = config
        self._cases: dict[Path, list[dict[str, Any]]] = {}
        self._mistakes: dict[Path, list[str]] = {}
        self._loaded: set[Path] = set()
        self._numbers = count(1)
        self._started = False
        server = getattr(config, "workerinput", {}).get(SERVER)
        self.runner: Runner = (
            RemoteRunner(Path(server)) if server else SessionRunner(self.new_folder, self.options.engine, self._say)
        )
        self._server: RunnerServer | None = None

    def cases_in(self, path: Path) -> list[dict[str, Any]]:
        """The cases of a scenario file. Raises ScenarioMistakes, LabFailed.

        One command reads all files that pytest is going to find: a hundred cost little more than one.
        """
        if path not in self._loaded:
            self._load_cases(
                [path, *(p for p in files_to_collect(self._config) if p not in self._loaded and p != path)]
            )
        if path not in self._cases and path not in self._mistakes:
            self._load_cases([path])  # something was wrong with another one that hid what is in this one
        if path in self._mistakes:
            raise ScenarioMistakes("\n\n".join(self._mistakes[path]))
        return self._cases.get(path, [])

    def reply(self, item: "CaseItem") -> dict[str, Any]:
        """The engine's result of a case, once it is over. Raises ScenarioMistakes, LabFailed.

        The first that is asked for starts all that pytest is going to ask for, in whichever worker of xdist.
        """
        if not self._started:
            items = [one for one in item.session.items if isinstance(one, CaseItem) and one.will_run]
            self.runner.start(self._run_request(items), [one.name for one in items])
            self._started = True
        return self.runner.case(item.name, self._run_request([item]))

    def _run_request(self, items: Iterable["CaseItem"]) -> Request:
        files = dict.fromkeys(self._relative_path(item.path) for item in items)
        return Request.of(["run", *self.options.arguments(), "--", *files], self.folder)

    def serve_workers(self) -> str | None:
        """Where workers of xdist ask for this session's runner; None where there can be no such place."""
        if self._server is None:
            try:
                self._server = RunnerServer(self.runner, self._temporary_folder("faultlab-server"))
            except OSError:
                return None
        return str(self._server.folder)

    def new_folder(self) -> Path:
        """A new folder for results: where the user wants them, else among pytest's temporary ones. Raises LabFailed."""
        __tracebackhide__ = True
        try:
            return self._create_folder()
        except OSError as error:
            raise LabFailed(f"cannot make {error.filename}: {error.strerror}; name another --faultlab-out") from None

    def _create_folder(self) -> Path:
        if self.options.out is None:
            return self._temporary_folder("faultlab")
        for number in self._numbers:
            folder = self.options.out / f"pytest-{number}"
            with suppress(FileExistsError):
                folder.mkdir(parents=True)
                return folder
        raise AssertionError("numbers do not end")

    def _temporary_folder(self, name: str) -> Path:
        """A new, private one. Raises OSError."""
        factory = getattr(self._config, "_tmp_path_factory", None)
        return Path(factory.mktemp(name) if factory else mkdtemp(prefix=f"{name}-"))

    def _say(self, words: str) -> None:
        """A line in the terminal, at once: waiting in silence looks like hanging."""
        plugins = self._config.pluginmanager
        terminal, capture = plugins.get_plugin("terminalreporter"), plugins.get_plugin("capturemanager")
        if terminal is not None:
            with capture.global_and_fixture_disabled() if capture is not None else nullcontext():
                terminal.ensure_newline()
                terminal.write_line(f"faultlab: {words}")
                terminal.flush()

    def end(self) -> None:
        """Stop what still runs."""
        if self._server is not None:
            self._server.close()
        self.runner.end()

    def _load_cases(self, paths: list[Path]) -> None:
        self._loaded.update(paths)
        words = ["list", "--json", "--", *map(self._relative_path, paths)]
        reply = self.runner.listing(Request.of(words, self.folder))
        for scenario in reply["scenarios"]:
            tags = {"tags": scenario["tags"], "scenario": scenario["scenario"]}
            self._cases[self.folder / scenario["path"]] = [{**case, **tags} for case in scenario["cases"]]
        for problem in reply["problems"]:
            path = self.folder / problem["path"]
            beside = [p for p in paths if p.parent == path.parent and p not in self._cases]  # formulas.yaml is shared
            for one in [path] if path in paths else beside:
                self._mistakes.setdefault(one, []).append(problem["text"])

    def _relative_path(self, path: Path) -> str:
        """As the user would write it where he stands."""
        return str(path.relative_to(self.folder) if path.is_relative_to(self.folder) else path)


SESSION = pytest.StashKey[Session]()


class ScenarioFile(pytest.File):
    """A scenario file; its tests are its cases."""

    def collect(self) -> Iterator[pytest.Item]:
        try:
            cases = self.config.stash[SESSION].cases_in(self.path)
        except (ScenarioMistakes, LabFailed) as error:
            raise self.CollectError(str(error)) from error
        for case in cases:
            # As a text, so that pytest parses the id as it does when it reads ids back (--lf).
            yield CaseItem.from_parent(self, name=case["id"], case=case, nodeid=f"{self.nodeid}::{case['id']}")


class CaseItem(pytest.Item):
    """A scenario with one set of parameters; its repeats are one test.

    What says nothing about the client (a lab that failed, a fault without effect) is raised while the test is set up,
    so that pytest and JUnit tell errors from failures.
    """

    def __init__(self, *, case: Mapping[str, Any], **more: Any) -> None:
        super().__init__(**more)
        self._reply: dict[str, Any] | None = None
        self.extra_keyword_matches.update((*case["tags"], case["client"], case["client_version"]))

    @property
    def will_run(self) -> bool:
        """Whether pytest is going to ask for it."""
        return self.get_closest_marker("skip") is None

    def setup(self) -> None:
        if self.config.getoption("setuponly", default=False):
            return
        session = self.config.stash[SESSION]
        try:
            reply = session.reply(self)
        except (ScenarioMistakes, LabFailed) as error:
            _fail(str(error))
        if "verdict" not in reply:
            _fail(_skip_or_explain(session.options, "it cannot be run here", reply["text"]))
        self._reply = reply
        self._add_properties(reply)
        if reply["verdict"] == "lab_error":
            who = "the client's program" if reply["blame"] == "subject" else "the lab"
            _fail(f"{who} failed: {reply['summary']}\n\n{reply['text']}")
        if reply["verdict"] in ("inconclusive", "skipped"):
            _fail(_skip_or_explain(session.options, reply["summary"], reply["text"]))

    def runtest(self) -> None:
        assert self._reply is not None
        if self._reply["verdict"] != "pass":
            _fail(f"{self._reply['summary']}\n\n{self._reply['text']}")

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, self.name

    def _add_properties(self, reply: Mapping[str, Any]) -> None:
        """Properties of the test, for JUnit and for readers of reports."""
        names = ("verdict", "client", "client_version", "environment", "predicted", "measured", "replay")
        self.user_properties += [(name, reply[name]) for name in names if reply[name] is not None]
        self.user_properties += [
            (finding["measure"], f"{finding['measured']:.6g} {finding['unit']}")
            for finding in reply["findings"]
            if finding["measured"] is not None and finding["kind"] != "claim"
        ]
        self.user_properties += [(RESULTS, reply["results"]), *([(NOTE, reply["note"])] if reply["note"] else [])]


def _fail(text: str) -> NoReturn:
    """End a case that did not pass. The text is all that is shown, so pytest need not render a traceback: with the
    source of each of its own frames that took 50 ms a case."""
    pytest.fail(text, pytrace=False)


class Lab:
    """The fixture `lab`: runs scenarios for a test, each call as a command and with a results folder of its own."""

    def __init__(self, session: Session, folder: Path) -> None:
        self._session = session
        self._folder = folder

    def run(
        self,
        scenario: str | os.PathLike[str] | Mapping[str, Any],
        *,
        settings: Mapping[str, str | int | float | bool] | None = None,
        environment: str | None = None,
        repeat: int | None = None,
        seed: int | None = None,
    ) -> Result:
        """Run a scenario and wait for its end; the verdict is for the test to judge (`check` does it the usual way).

        `scenario` is a file (relative to the test's folder), the name of a bundled scenario, a scenario's YAML text, or
        the same as a mapping. `settings` replace or add to the client's own, as the scenario would write them (`"1s"`).
        What is not given is as on pytest's command line. Raises ScenarioMistakes, LabFailed.
        """
        __tracebackhide__ = True
        out = self._session.new_folder()
        said = self._session.options.arguments(environment, repeat, seed) + settings_arguments(settings or {})
        words = ["run", "--json", *said, "--out", str(out), "--", scenario_argument(scenario, out)]
        return Result.of(self._session.runner.document(Request.of(words, self._folder)), self._folder)

    def check(self, result: Result) -> None:
        """Fail the test unless the verdict is pass, with what faultlab shows for it. A test of nothing is no pass."""
        __tracebackhide__ = True
        for case in result.cases:
            if case.verdict in ("inconclusive", "skipped"):
                pytest.fail(_skip_or_explain(self._session.options, case.summary, case.text), pytrace=False)
            elif case.verdict != "pass":
                pytest.fail(f"{case.summary}\n\n{case.text}", pytrace=False)


@pytest.fixture
def lab(request: pytest.FixtureRequest) -> Lab:
    """Runs fault-injection scenarios: `lab.run("dark.scenario.yaml").measure("probe.time_to_error")`."""
    return Lab(request.config.stash[SESSION], request.path.parent)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("faultlab", "fault injection (faultlab)")
    for name, values, words in (
        ("env", "auto|sim|local|...", "where scenarios run: simulated, on real sockets in namespaces, or as it can be"),
        ("repeat", "N", "runs of each case; else as each scenario says"),
        ("seed", "N", "the seed of everything random; the same seed gives the same simulated runs"),
        ("out", "DIR", "keep results in new folders there; else among pytest's temporary ones"),
        ("engine", "PROGRAM", "a faultlab that is installed elsewhere; else the one beside the plugin or on PATH"),
        ("inconclusive", "fail|skip", "what a case is that tested nothing (default: fail, as an error)"),
    ):
        group.addoption(f"--faultlab-{name}", metavar=values, default=None, help=words)
        parser.addini(f"faultlab_{name}", f"{values}: {words}", default="")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[SESSION] = Session(config)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> ScenarioFile | None:
    return ScenarioFile.from_parent(parent, path=file_path) if file_path.name.endswith(SCENARIO_SUFFIX) else None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show the engine's message alone."""
    report = yield
    value = call.excinfo.value if call.excinfo is not None else None
    if isinstance(item, CaseItem) and isinstance(value, pytest.fail.Exception) and report.failed:
        report.longrepr = str(value)
    return report


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """A worker of xdist is about to start, on this machine or on another one."""
    if node.gateway.spec.popen:
        node.workerinput[SERVER] = node.config.stash[SESSION].serve_workers()


@pytest.hookimpl(tryfirst=True)  # before xdist waits for workers that wait for this
def pytest_sessionfinish(session: pytest.Session) -> None:
    session.config.stash[SESSION].end()


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Where the runs of the scenarios are, for `faultlab report`."""
    reports = [r for some in terminalreporter.stats.values() for r in some if isinstance(r, pytest.TestReport)]
    said = {(name, str(value)): None for r in reports for name, value in r.user_properties if name in (RESULTS, NOTE)}
    folders = [Path(value) for name, value in said if name == RESULTS]
    notes = [value for name, value in said if name == NOTE]
    wrong = any(r.outcome != "passed" for r in reports)
    if folders and (notes or wrong or config.stash[SESSION].options.out is not None):
        shown = folders if len(folders) <= MAX_FOLDERS else dict.fromkeys(folder.parent / "*" for folder in folders)
        terminalreporter.section("faultlab")
        for line in (*notes, f"report  faultlab report {shlex.join(map(str, shown))}"):
            terminalreporter.write_line(line)


def files_to_collect(config: pytest.Config) -> Iterator[Path]:
    """The scenario files that pytest is going to find, as far as its command line and options say."""
    for argument in config.args:
        path = config.invocation_params.dir / argument.partition("::")[0]
        yield from _scenario_files_in(path, config)


def _scenario_files_in(path: Path, config: pytest.Config) -> Iterable[Path]:
    if not path.is_dir():
        return [path] if path.name.endswith(SCENARIO_SUFFIX) and path.is_file() else []
    found: list[Path] = []
    for folder, folders, names in os.walk(path):
        here = Path(folder)
        ignored = config.hook.pytest_ignore_collect
        folders[:] = sorted(n for n in folders if not ignored(collection_path=here / n, config=config))
        files = (here / n for n in sorted(names) if n.endswith(SCENARIO_SUFFIX))
        found += [file for file in files if not ignored(collection_path=file, config=config)]
    return found


def _skip_or_explain(options: Options, why: str, text: str) -> str:
    """The message of a case that tested nothing, unless such cases are skipped."""
    if options.inconclusive == "skip":
        pytest.skip(f"inconclusive: {why}")
    return f"inconclusive: {why}\n\n{text}"
