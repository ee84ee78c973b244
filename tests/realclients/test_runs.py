"""Protects what the real clients are for: Sarama itself in the lab, by the formulas of its source, dials and all."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.records.reader import Results, read, read_events

pytestmark = [pytest.mark.cell, pytest.mark.timeout(900), pytest.mark.ci]

Built = Callable[[str], Path]
WITHIN = "within: 1% + 50ms"
SCENARIO = """\
format: 1
scenario: {name}
about: Every port goes dark while the producer is connected.
client: {client}
settings:
  Net.DialTimeout: {dial}
  Net.ReadTimeout: {read}
  Net.WriteTimeout: 3s
  Producer.RequiredAcks: WaitForAll
  Producer.Retry.Max: 1
cluster: {{brokers: 1, topics: [{{name: orders}}]}}
steps:
  - {{do: connect, expect: ok}}
  - {{do: send, as: warm_up, expect: acknowledged}}
  - {{inject: blackhole, brokers: all, as: outage}}
  - {{do: send, as: probe, give_up_after: 60s, expect: failed}}
expect:
{expect}
matrix: {matrix}
"""


def ran(faultlab: Callable[..., Any], folder: Path, *options: str, **parts: str) -> tuple[int, Results]:
    (folder / f"{parts['name']}.scenario.yaml").write_text(SCENARIO.format(**parts))
    done = faultlab("run", "--env", "local", "--out", "results", *options, f"{parts['name']}.scenario.yaml")
    assert (folder / "results").is_dir(), done.stderr
    return done.returncode, read(folder / "results")


def test_the_profile_s_scenario_holds_for_the_library(
    built: Built, faultlab: Callable[..., Any], tmp_path: Path
) -> None:
    """Short time-outs; the dials that the library's own hook tells are those that the wire shows."""
    built("1.27.2")
    expect = f"""\
  - {{measure: probe.time_to_error, equals: "2*Net.ReadTimeout + 4*Net.DialTimeout + 850ms", {WITHIN}}}
  - {{measure: probe.dials, equals: 4}}
"""
    code, results = ran(
        faultlab, tmp_path, "--client", "real", name="dark", client="{profile: sarama, version: 1.27.2}", dial="200ms",
        read="400ms", expect=expect, matrix="{settings.Producer.Retry.Max: [1, 3], client.producer: [sync, async]}",
    )  # fmt: skip
    assert code == 0, [run.reasons for run in results.runs]
    assert {run.driver for run in results.runs} == {"real"}
    for run in results.runs:
        error = run.operations[-1]
        assert (error.stamped, error.error_class) == ("subject", "ErrOutOfBrokers")
        assert error.error is not None
        assert "(Is your cluster reachable?)" in error.error
        log = results.folder.log_folder(run.run_id, run.attempt) / "subject.log"
        assert "[sarama]" in log.read_text()
    told = Counter((event.run_id, event.attempt, event.kind) for event in read_events(results, []))
    for run in results.tries:
        assert [told[run.run_id, run.attempt, kind] for kind in ("dial_seen", "dial_started")] == [6, 6]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("1.27.2", ("2.0s", "8.856s", "10.857s", "18.880s")),
        ("1.60.1", ("8.755s", "13.610s", "15.613s", "31.619s")),
    ],
)
def test_the_times_that_were_measured_on_real_builds(
    built: Built, faultlab: Callable[..., Any], tmp_path: Path, version: str, expected: tuple[str, ...]
) -> None:
    """By hand, as a program of the user's: no profile is asked for a setting or a formula."""
    program = built(version)
    cells = [(0, 1, [1]), (1, 1, [1]), (1, 3, [1]), (1, 3, [1, 2, 3])]
    for number, ((m, n, k), seconds) in enumerate(zip(cells, expected, strict=True)):
        text = SCENARIO.format(
            name=f"case-{number}", client=f"{{driver: {{exec: [{program}]}}, name: sarama}}", dial="1s", read="2s",
            matrix=f"[{{settings.Producer.Retry.Max: {m}, cluster.brokers: {n}, client.bootstrap: {k}}}]",
            expect=f"  - {{measure: probe.time_to_error, equals: {seconds}, {WITHIN}}}",
        )  # fmt: skip
        (tmp_path / f"case-{number}.scenario.yaml").write_text(text)
    done = faultlab("run", "--env", "local", "--out", "results", ".")
    assert done.returncode == 0, done.stdout
    assert len(read(tmp_path / "results").runs) == len(cells)


PROGRAM = '''#!/usr/bin/env python3
"""Dials once at `connect`, twice at `send`, and tells nothing of it."""
import json, os, socket, sys
host, _, port = json.loads(os.environ["FAULTLAB_SUBJECT"])["bootstrap"][0].partition(":")
def say(**event): print(json.dumps(event), flush=True)
say(ev="ready")
for line in sys.stdin:
    command = json.loads(line)
    say(ev="started", id=command["id"])
    for _ in range({"connect": 1, "send": 2}[command["op"]]):
        socket.create_connection((host, int(port))).close()
    say(ev="ok", id=command["id"])
'''


def test_dials_of_a_program_that_tells_nothing_are_counted_on_the_wire(
    faultlab: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "mine").write_text(PROGRAM)
    (tmp_path / "mine").chmod(0o755)
    text = SCENARIO.format(
        name="told-nothing", client="{driver: {exec: [./mine]}}", dial="1s", read="1s", matrix="[{cluster.brokers: 1}]",
        expect="  - {measure: probe.dials, equals: 2}\n  - {measure: connect.dials, equals: 1}",
    )  # fmt: skip
    text = text.replace("  - {inject: blackhole, brokers: all, as: outage}\n", "").replace(", expect: failed", "")
    (tmp_path / "told-nothing.scenario.yaml").write_text(text)
    done = faultlab("run", "--env", "local", "--out", "results", "told-nothing.scenario.yaml")
    assert done.returncode == 0, done.stdout
    (run,) = read(tmp_path / "results").runs
    measures = {measure.name: measure for measure in run.measures}
    assert (measures["probe.dials"].value, measures["probe.dials"].wire) == (2.0, True)
    assert not measures["probe.time_to_end"].wire


def test_a_client_that_is_not_built_costs_no_run(faultlab: Callable[..., Any], tmp_path: Path) -> None:
    toxiproxy = next(Path("~/.cache/faultlab").expanduser().glob("toxiproxy-server-*"), None)
    variables = {} if toxiproxy is None else {"TOXIPROXY_SERVER": str(toxiproxy)}
    done = faultlab(
        "run", "sarama-blackhole-established", "--env", "local", "--client", "real",
        XDG_CACHE_HOME=str(tmp_path / "cache"), **variables,
    )  # fmt: skip
    assert done.returncode == 3
    assert done.stderr.splitlines()[-1].strip().startswith("faultlab clients build sarama@1.27.2")
    assert not (tmp_path / "results").exists()
    refused = faultlab("run", "sarama-blackhole-established", "--env", "sim", "--client", "real")
    assert refused.returncode == 4
    assert "sim cannot start a program" in refused.stderr
