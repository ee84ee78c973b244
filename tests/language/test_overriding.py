"""Protects settings that come from outside of a file: as if written in place, and what is wrong is theirs."""

from pathlib import Path

import pytest

from harness.language import Problems, loads, report

SOURCE = """\
format: 1
scenario: dark
about: A port goes dark.
tags: [sarama]
client: {profile: sarama, version: 1.27.2}
settings: {Net.ReadTimeout: 2s, Net.DialTimeout: 1s}
cluster: {brokers: 1, topics: [{name: orders}]}
steps:
  - {do: connect}
  - {inject: blackhole, brokers: all, as: outage}
  - {do: send, as: probe, give_up_after: 60s}
expect:
  - {measure: probe.time_to_error, equals: Net.ReadTimeout, within: 50ms}
matrix: {settings.Producer.Retry.Max: [0, 1]}
"""
HERE = Path("dark.scenario.yaml")


def settings(source: str = SOURCE, **given: str) -> dict[str, str]:
    scenario = loads(source, HERE, {name.replace("__", "."): text for name, text in given.items()})
    return {setting.name: setting.text for setting in scenario.cells[0].settings}


def problems(source: str = SOURCE, **given: str) -> list[str]:
    with pytest.raises(Problems) as raised:
        settings(source, **given)
    return [f"{p.given or f'{p.line}:{p.column}'} {p.code} {p.message}" for p in raised.value.problems]


def test_a_setting_replaces_the_files_or_is_added() -> None:
    told = settings(Net__ReadTimeout="5s", Net__WriteTimeout="4s")
    assert (told["Net.ReadTimeout"], told["Net.WriteTimeout"], told["Net.DialTimeout"]) == ("5s", "4s", "1s")
    assert loads(SOURCE, HERE, {"Net.ReadTimeout": "5s"}).cells[0].expected_s == 5.0
    bare = SOURCE.replace("settings: {Net.ReadTimeout: 2s, Net.DialTimeout: 1s}\n", "")
    assert settings(bare, Net__ReadTimeout="5s")["Net.ReadTimeout"] == "5s"


def test_what_is_wrong_is_shown_as_it_was_given_and_not_in_the_file() -> None:
    (value,) = problems(Net__ReadTimeout="soon")
    assert value.startswith("--set Net.ReadTimeout=soon quantity Net.ReadTimeout: `soon`")
    (name,) = problems(Net__ReadTimeoutt="1s")
    assert name == "--set Net.ReadTimeoutt=1s unknown-setting sarama has no setting Net.ReadTimeoutt"
    (refused,) = problems(Net__DialTimeout="0s")
    assert refused.startswith("--set Net.DialTimeout=0s setting-value ")


def test_what_is_wrong_with_it_is_the_same_in_every_scenario() -> None:
    def wrong(path: str) -> Problems:
        with pytest.raises(Problems) as raised:
            loads(SOURCE.replace("6", "7"), Path(path), {"Net.ReadTimeout": "NaN"})
        return raised.value

    first, second = wrong("a.scenario.yaml"), wrong("b/b.scenario.yaml")
    assert first.problems == second.problems
    assert report(first) == (
        "--set Net.ReadTimeout=NaN: error[quantity]: Net.ReadTimeout: `NaN` is not a duration\n"
        "  write it as 250ms, 1s or 1m30s"
    )


def test_a_setting_of_the_matrix_stays_the_matrixs() -> None:
    for source in (
        SOURCE,
        SOURCE.replace("{settings.Producer.Retry.Max: [0, 1]}", "[{settings.Producer.Retry.Max: 0}]"),
    ):
        (told,) = problems(source, Producer__Retry__Max="3")
        assert "override `Producer.Retry.Max` is set from outside, and the matrix has it too" in told


def test_a_file_whose_settings_are_no_mapping_says_so_first() -> None:
    broken = SOURCE.replace("{Net.ReadTimeout: 2s, Net.DialTimeout: 1s}", "3")
    assert any("6:11" in told for told in problems(broken, Net__ReadTimeout="1s"))
