"""Protects the driver `real`: the same scenarios and seeds, other runs, the scenario's own settings and no others."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from cli.suite.request import Request
from harness.drivers import SubjectError, build_program
from harness.environments.local.environment import LocalEnvironment
from harness.environments.sim.environment import SimEnvironment
from harness.environments.world import Conduct, Executable, Supported, Unsupported
from harness.language import Problems, Scenario, loads, plans
from harness.plan import ClientPlan, RunPlan
from harness.realclients import RealClientMissing
from harness.records.manifest import Manifest
from harness.suite.planning import require_real_clients, unsupported_by, with_client

SCENARIO = """\
format: 1
scenario: dark
about: A port goes dark.
client: {profile: sarama, version: 1.27.2CLIENT}
settings: {Net.ReadTimeout: 2s, Producer.RequiredAcks: WaitForAll}
cluster: {brokers: 1, topics: [{name: orders}]}
steps:
  - {do: connect, as: probe}
expect:
  - {measure: probe.time_to_end, at_most: Net.DialTimeout}
"""


def scenario(client: str = "") -> Scenario:
    return loads(SCENARIO.replace("CLIENT", client), Path("dark.scenario.yaml"))


def plan(one: Scenario) -> RunPlan:
    (made,) = plans(one, environment="local", seed=7)
    return made


def test_the_same_scenario_is_another_run_with_the_same_chance() -> None:
    profile, real = plan(scenario()), plan(with_client(scenario(), "real"))
    assert (profile.client.driver, real.client.driver) == ("bundled", "real")
    assert profile.run_id != real.run_id
    assert profile.seed == real.seed
    assert real == plan(scenario(", real: true"))
    assert profile == plan(with_client(scenario(", real: true"), "profile"))
    assert with_client(scenario(", real: true"), None) == scenario(", real: true")


def test_resume_and_replay_ask_for_the_same_client(tmp_path: Path) -> None:
    asked = {"paths": ["dark"], "environment": "local", "seed": 7, "repeat": None, "only": [], "tags": [], "cases": [],
             "settings": {"Net.DialTimeout": "1s"}}  # fmt: skip
    for client in (None, "real", "profile"):
        request = Request.of({**asked, "client": client}, tmp_path)
        manifest = Manifest(
            suite="s", faultlab="1", environment="local", seed=7, arguments=request.arguments(), folder=str(tmp_path),
            started_at="", run_ids=(), machine="",
        )  # fmt: skip
        assert Request.from_manifest(manifest) == request


def test_a_matrix_puts_both_side_by_side() -> None:
    both = loads(
        SCENARIO.replace("CLIENT", "") + "matrix: {client.real: [false, true]}\n", Path("dark.scenario.yaml")
    )  # fmt: skip
    assert [cell.client.driver for cell in both.cells] == ["bundled", "real"]


def test_a_program_of_the_user_s_has_no_library() -> None:
    mine = scenario().cells[0]
    mine = replace(mine, client=ClientPlan(name="mine", version="", argv=("./mine",)))
    one = replace(scenario(), cells=(mine,))
    assert with_client(one, "real") == one
    with pytest.raises(Problems, match="no profile's library"):
        loads(
            SCENARIO.replace("{profile: sarama, version: 1.27.2CLIENT}", "{driver: {exec: [sh]}, real: true}"),
            Path("dark.scenario.yaml"),
        )


def test_only_the_scenario_s_own_settings_reach_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A default of the profile that is not the library's would else never show."""
    monkeypatch.setattr("harness.realclients.catalogue.os.access", lambda *_: True)
    real = plan(with_client(scenario(), "real"))
    settings = {setting.name: setting.text for setting in real.settings}
    assert len(settings) > 20
    program = build_program(real, {"settings": settings, "client": "sarama"})
    assert isinstance(program, Executable)
    assert program.launch == {
        "settings": {"Net.ReadTimeout": "2s", "Producer.RequiredAcks": "WaitForAll"}, "client": "sarama"
    }  # fmt: skip


def test_what_is_not_built_is_refused_before_anything_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    real = plan(with_client(scenario(), "real"))
    require_real_clients([plan(scenario())])
    with pytest.raises(RealClientMissing, match=r"is not built; faultlab clients build sarama@1\.27\.2$"):
        require_real_clients([real, real])
    with pytest.raises(SubjectError, match=r"faultlab clients build sarama@1\.27\.2") as caught:
        build_program(real, {"settings": {}})
    assert caught.value.code == "subject-not-started"


def test_sim_refuses_it_and_local_takes_it(conduct: Conduct) -> None:
    assert isinstance(SimEnvironment(conduct).supports_driver("real"), Unsupported)
    assert isinstance(LocalEnvironment(conduct, lanes=1).supports_driver("real"), Supported)


def test_a_release_without_sources_is_refused_at_the_client(conduct: Conduct) -> None:
    real = plan(with_client(scenario(), "real"))
    unknown = replace(real, client=replace(real.client, version="1.30.0"))
    (problem,) = unsupported_by([unknown], LocalEnvironment(conduct, lanes=1))
    assert re.search(r"there is no real sarama 1\.30\.0; there are .*\bsarama@1\.27\.2", problem.message)


@pytest.fixture
def conduct() -> Conduct:
    from harness.conductor import conduct

    return conduct
