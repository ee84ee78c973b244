"""Protects how a session ends before all of its cases were asked for: soon, with its texts, and without a process."""

import pytest
from project import WRONG, Project, processes_about, scenario

pytestmark = pytest.mark.ci

CASES = 30
MANY = "{settings.Net.DialTimeout: [" + ", ".join(f"{1000 + number}ms" for number in range(CASES)) + "]}"
"""What their results take is more than a pipe holds."""
INTERRUPTING = """
def pytest_runtest_logreport(report):
    if report.failed:
        raise KeyboardInterrupt
"""

RENDERING = """
import ast

def pytest_configure(config):
    parse = ast.parse

    def counted(*arguments, **more):
        counted.calls += 1
        return parse(*arguments, **more)

    counted.calls = 0
    ast.parse = counted
    config.counted = counted

def pytest_collection_finish(session):
    session.config.counted.calls = 0

def pytest_terminal_summary(terminalreporter, config):
    terminalreporter.write_line(f"sources parsed: {config.counted.calls}")
"""


@pytest.mark.parametrize(
    ("arguments", "failures"),
    [(("-x",), 1), (("--maxfail=2",), 2), (("-k", "1005ms or 1006ms"), 2), (("-x", "-n", "1"), 1)],
    ids=["x", "maxfail", "k", "x-of-a-worker"],
)
def test_the_failures_until_then_are_shown(project: Project, arguments: tuple[str, ...], failures: int) -> None:
    project.write("many.scenario.yaml", scenario("many", bound=WRONG, matrix=MANY))
    done = project.pytest(*arguments, "-p", "no:cacheprovider")
    assert done.code in (pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED), done.out
    assert list(done.outcomes.values()) == ["failure"] * failures, done.out
    for case in done.cases.values():
        assert "probe.time_to_error: measured 2.000 s, expected 4.000 s" in case.text
        assert "Net.ReadTimeout  2 x 2.000  4.000    1 x   2.000    -2.000  1 missing" in case.text
    assert done.out.count("2 x 2.000  4.000    1 x   2.000    -2.000  1 missing") == failures, "as on the terminal"
    assert "Traceback" not in done.out
    assert processes_about(project.path) == []


def test_what_was_not_asked_for_can_be_asked_for_next_time(project: Project) -> None:
    """--lf after -x: the failure is run again, alone."""
    project.write("many.scenario.yaml", scenario("many", bound=WRONG, matrix=MANY))
    first = project.pytest("-x")
    again = project.pytest("--lf")
    assert again.code == pytest.ExitCode.TESTS_FAILED
    assert first.outcomes == again.outcomes, again.out


def test_an_interruption_between_two_cases_ends_the_others(project: Project) -> None:
    project.write("many.scenario.yaml", scenario("many", bound=WRONG, matrix=MANY))
    project.write("conftest.py", INTERRUPTING)
    done = project.pytest()
    assert done.code == pytest.ExitCode.INTERRUPTED
    assert "KeyboardInterrupt" in done.out
    assert "LabFailed" not in done.out
    assert processes_about(project.path) == []


def test_no_traceback_is_rendered_for_a_text_that_is_shown_alone(project: Project) -> None:
    """For each of its own frames pytest parses a file: 200 failures took 13 s after their runs."""
    project.write("two.scenario.yaml", scenario("two", bound=WRONG, matrix="{settings.Net.DialTimeout: [1s, 2s]}"))
    project.write("conftest.py", RENDERING)
    done = project.pytest()
    assert list(done.outcomes.values()) == ["failure"] * 2, done.out
    assert "sources parsed: 0" in done.out
