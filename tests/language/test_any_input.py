"""Protects the user from tracebacks: whatever a scenario file holds, loading it gives a scenario or placed problems."""

import json
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.language import Problems, load, loads, one_line, plans, render

BASE = Path(__file__).with_name("base.scenario.yaml").read_text()
SHIPPED = sorted((Path(__file__).parents[2] / "scenarios").rglob("*.scenario.yaml"))
PIECES = [
    "", " ", "\n", "\t", ":", "- ", "{", "}", "[", "]", ",", "'", '"', "&a ", "*a", "!!x ", "%", "#", "|", ">-", "? ",
    "null", "true", "on", "1:30", "-1", "1e999", "0x1f", ".nan", "9" * 30, "1s", "all", "probe", "outage", "formula(x)",
    "\x00", "\u2028", "\ud800", "\u202e", "\ufeff", "---", "...", "<<", "=", "a" * 200, "2*", "Net.ReadTimeout + 3",
    "do", "inject", "heal", "matrix: {cluster.brokers: [1]}\n", "steps: []\n", "expect: {}\n", "client: 3\n",
]  # fmt: skip


def checked(text: str, path: Path) -> None:
    try:
        scenario = loads(text, path)
    except Problems as error:
        refused(error)
    else:
        assert plans(scenario, environment="sim", seed=1, repeat=1)


def refused(error: Problems) -> None:
    assert error.problems
    for problem in error.problems:
        assert problem.message
        assert min(problem.line, problem.column, problem.length) >= 1
        shown = render(problem, error.sources.get(problem.path))
        assert all(line.isprintable() for line in shown.split("\n")), shown
        assert one_line(problem) == shown.split("\n")[0]


@given(data=st.data())
@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])
def test_a_damaged_scenario_is_refused_or_still_right(data: st.DataObject) -> None:
    source = data.draw(st.sampled_from([BASE, *(path.read_text() for path in SHIPPED)]))
    path = SHIPPED[0]
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(source)))
        end = min(len(source), start + data.draw(st.integers(0, 12)))
        source = source[:start] + data.draw(st.sampled_from(PIECES)) + source[end:]
    checked(source, path)


@given(text=st.text(max_size=200))
@settings(deadline=None, max_examples=100)
def test_any_text(text: str) -> None:
    checked(text, Path("any.scenario.yaml"))


@given(raw=st.binary(max_size=200))
@settings(deadline=None, max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes(raw: bytes, tmp_path: Path) -> None:
    path = tmp_path / "any.scenario.yaml"
    path.write_bytes(raw)
    try:
        load(path)
    except Problems as error:
        refused(error)


KEYS = ["do", "as", "inject", "brokers", "measure", "equals", "name", "topics", "x"]
PARTS = ["client", "settings", "cluster", "steps", "expect", "matrix", "repeat", "tags"]
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-3, 10**20), st.floats(), st.text(max_size=8),
              st.sampled_from(["1s", "all", "probe", "probe.dials", "send", "blackhole", "2*Net.ReadTimeout"])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    ),
    max_leaves=12,
)  # fmt: skip


@given(
    key=st.sampled_from(["client", "settings", "cluster", "steps", "expect", "matrix", "repeat", "tags"]), value=VALUES
)
@settings(deadline=None, max_examples=200)
def test_any_value_in_any_part(key: str, value: object) -> None:
    kept = [line for line in BASE.splitlines() if not line.startswith((f"{key}:", "  -"))]
    if key not in ("steps", "expect"):
        kept = [line for line in BASE.splitlines() if not line.startswith(f"{key}:")]
    checked("\n".join([*kept, f"{key}: {json.dumps(value)}"]) + "\n", Path("any.scenario.yaml"))
