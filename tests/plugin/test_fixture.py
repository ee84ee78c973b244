"""Protects the fixture `lab`: what a test of one's own gets, how it is told of mistakes, whose packages it meets."""

import shutil
from pathlib import Path

import pytest
from project import WRONG, Project, processes_about, scenario, untouched

pytestmark = pytest.mark.ci

ROOT = Path(__file__).parents[2]


def test_a_run_tells_verdict_measures_outcomes_and_where_the_time_went(project: Project) -> None:
    project.write("tests/lab/dark.scenario.yaml", scenario("dark"))
    project.write(
        "tests/test_mine.py",
        """
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pytest_faultlab import Lab, LabFailed, Result, ScenarioMistakes


def test_a_file(lab: Lab) -> None:
    result = lab.run("lab/dark.scenario.yaml")
    assert isinstance(result, Result)
    assert (result.verdict, result.environment) == ("pass", "sim")
    assert result.measure("probe.time_to_error") == pytest.approx(2.0, abs=0.07)
    assert result.measures["probe.dials"] == 0
    assert result.outcomes == {"connect": "ok", "warm_up": "ok", "probe": "failed"}
    assert "i/o timeout" in result.errors["probe"]
    (row,) = result.where
    assert (row.setting, row.predicted_count, row.measured_count) == ("Net.ReadTimeout", 1.0, 1)
    assert row.measured_s == pytest.approx(2.0, abs=0.07)
    assert (result.results / "runs.jsonl").is_file()
    assert result.case().settings["Net.ReadTimeout"] == "2s"
    with pytest.raises(LookupError, match=r"dark measured no probe.time_to_ack; it measured .*probe.time_to_error"):
        result.measure("probe.time_to_ack")
    lab.check(result)


def test_overrides(lab: Lab) -> None:
    result = lab.run("lab/dark.scenario.yaml", settings={"Net.ReadTimeout": "300ms"}, repeat=3, seed=5)
    assert result.measure("probe.time_to_error") == pytest.approx(0.3, abs=0.06)
    assert result.seed == 5
    assert len((result.results / "runs.jsonl").read_text().splitlines()) == 3
    lab.check(result)


def test_from_several_threads(lab: Lab) -> None:
    with ThreadPoolExecutor(3) as threads:
        results = list(threads.map(lambda n: lab.run("lab/dark.scenario.yaml", seed=n), range(6)))
    assert [(result.seed, result.verdict) for result in results] == [(n, "pass") for n in range(6)]
    assert len({result.results for result in results}) == 6


def test_a_lab_that_cannot_begin_and_an_engine_that_was_killed(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOXIPROXY_SERVER", "/nowhere/toxiproxy-server")
    with pytest.raises(LabFailed, match="/nowhere/toxiproxy-server"):
        lab.run("lab/dark.scenario.yaml", environment="local")
    monkeypatch.undo()
    (engine,) = " ".join(file.read_text() for file in Path("/proc/self/task").glob("*/children")).split()
    os.kill(int(engine), signal.SIGKILL)
    os.waitid(os.P_PID, int(engine), os.WEXITED | os.WNOWAIT)
    assert lab.run("lab/dark.scenario.yaml").verdict == "pass"


def test_a_bundled_scenario_and_its_cases(lab: Lab) -> None:
    result = lab.run("sarama-slow-answer")
    lab.check(result)
    assert len(result.cases) >= 3
    with pytest.raises(LookupError, match="name one of the cases: sarama-slow-answer"):
        result.measure("probe.time_to_ack")
    assert result.case("sarama-slow-answer[Producer.Timeout=10ms,slow.delay=500ms]").verdict == "pass"


def test_mistakes_name_their_place(lab: Lab) -> None:
    with pytest.raises(ScenarioMistakes, match=r"--set Net.ReadTimeout=soon: error.quantity.: Net.ReadTimeout: `soon`"):
        lab.run("lab/dark.scenario.yaml", settings={"Net.ReadTimeout": "soon"})
    with pytest.raises(ScenarioMistakes, match="did you mean"):
        lab.run("lab/darkk.scenario.yaml")


@pytest.mark.parametrize(("scenario", "settings", "said"), [
    (None, None, "a scenario is a path, a name, a text or a mapping, not NoneType"),
    (b"lab/dark.scenario.yaml", None, "a text or a mapping, not bytes"),
    ({"format": object()}, None, "this mapping is no scenario: expected str, bytes or os.PathLike"),
    ({("a", "b"): 1}, None, "this mapping is no scenario: keys must be str"),
    ("format: 1\\nscenario: \\udcff\\n", None, "scenario.yaml:2:11: error.not-utf-8."),
    ("lab/dark.scenario.yaml", ["Net.ReadTimeout"], "settings are names with values .*, not list"),
    ("lab/dark.scenario.yaml", "Net.ReadTimeout=1s", "settings are names with values .*, not str"),
])
def test_what_is_no_scenario_and_no_settings_is_said_in_a_line(lab: Lab, scenario, settings, said) -> None:
    with pytest.raises(ScenarioMistakes, match=said):
        lab.run(scenario, settings=settings)
""",
    )
    done = project.pytest("-q", "--rootdir=.", "tests")
    assert done.code == 0, done.out
    assert set(done.outcomes.values()) == {"passed"}
    assert len(done.outcomes) == 14


def test_a_scenario_may_be_text_or_a_mapping_and_check_says_what_faultlab_says(project: Project) -> None:
    texts = {"wrong": scenario("wrong", bound=WRONG), "nothing": untouched("nothing")}
    project.write(
        "test_mine.py",
        f"""
TEXTS = {texts!r}
MAPPING = dict(
    format=1, scenario="mapped", about="A port goes dark.", client=dict(profile="sarama", version="1.27.2"),
    settings={{"Net.ReadTimeout": "2s", "Producer.Retry.Max": 0}},
    cluster=dict(brokers=1, topics=[dict(name="orders")]),
    steps=[
        dict(do="connect"), {{"inject": "blackhole", "brokers": "all", "as": "outage"}},
        {{"do": "send", "as": "probe", "give_up_after": "1s"}},
    ],
    expect=[dict(measure="probe.time_to_error", at_most="500ms", within="50ms")],
)


def test_wrong(lab):
    result = lab.run(TEXTS["wrong"])
    assert result.verdict == "fail"
    lab.check(result)


def test_nothing(lab):
    result = lab.run(TEXTS["nothing"])
    assert result.verdict == "inconclusive"
    lab.check(result)


def test_mapped(lab):
    case = lab.run(MAPPING).case()
    assert case.verdict == "fail"
    assert case.at_least == {{"probe.time_to_error": 1.0}} | case.at_least
    assert case.outcomes["probe"] == "censored"
    try:
        case.measure("probe.time_to_error")
    except LookupError as error:
        assert "had not ended after 1.000 s" in str(error)
""",
    )
    done = project.pytest("--faultlab-out=kept")
    assert done.outcomes == {"test_wrong": "failure", "test_nothing": "failure", "test_mapped": "passed"}, done.out
    assert "  Net.ReadTimeout  2 x 2.000  4.000    1 x   2.000    -2.000  1 missing" in done.cases["test_wrong"].text
    assert "inconclusive: fault `outage` dropped 0 packets" in done.cases["test_nothing"].text
    skipped = project.pytest("--faultlab-inconclusive=skip", "-k", "nothing")
    assert skipped.outcomes == {"test_nothing": "skipped"}, skipped.out
    assert "kept" not in project.pytest("--collect-only", "-q").out, "results are no tests"


@pytest.mark.parametrize("installed", ["here", "elsewhere"])
def test_a_projects_own_packages_never_meet_ours(project: Project, installed: str) -> None:
    """Packages named as ours that break whoever imports them by mistake: in the current folder, on PYTHONPATH, and on
    sys.path of the test process, with the plugin as it is installed here, and as it lies in a site-packages folder."""
    names = ("client", "cli", "harness", "reports", "scenarios", "realclients")
    for name in names:
        project.write(f"{name}/__init__.py", f"WHOSE = 'the project, {name}'\n")
        project.write(f"{name}/main.py", "raise SystemExit('the engine imported a package of the project')\n")
    project.write("harness/environments/__init__.py", "raise ImportError('not the engine\\'s')\n")
    project.write("dark.scenario.yaml", scenario("dark"))
    project.write(
        "test_mine.py",
        f"""
import sys
import client, cli, harness, reports, scenarios, realclients


def test_mine(lab):
    lab.check(lab.run("dark.scenario.yaml"))
    for name in {names!r}:
        assert sys.modules[name].WHOSE == f"the project, {{name}}"
        there = [module for module in sys.modules if module.startswith(f"{{name}}.")]
        assert not there, there
    assert client.__file__ == {str(project.path / "client" / "__init__.py")!r}
""",
    )
    variables = {"PYTHONPATH": str(project.path)}
    if installed == "elsewhere":
        site = project.path.parent / "site"
        site.mkdir()
        for name in names:
            shutil.copytree(ROOT / name, site / name, ignore=shutil.ignore_patterns("__pycache__", "*.go"))
        for file in ROOT.glob("pytest_faultlab*.py"):
            shutil.copy(file, site / file.name)
        variables = {"PYTHONPATH": f"{project.path}:{site}"}
    done = project.pytest(**variables)
    assert done.outcomes == {"dark": "passed", "test_mine": "passed"}, done.out
    assert processes_about(project.path) == []
