"""Protects settings that come from outside of a file: as if written in place, and shown there where they are wrong."""

from pathlib import Path

import pytest

from harness.language import Problems, loads

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
    return [f"{p.line}:{p.column} {p.code} {p.message}" for p in raised.value.problems]


def test_a_setting_replaces_the_files_or_is_added() -> None:
    told = settings(Net__ReadTimeout="5s", Net__WriteTimeout="4s")
    assert (told["Net.ReadTimeout"], told["Net.WriteTimeout"], told["Net.DialTimeout"]) == ("5s", "4s", "1s")
    assert loads(SOURCE, HERE, {"Net.ReadTimeout": "5s"}).cells[0].expected_s == 5.0
    bare = SOURCE.replace("settings: {Net.ReadTimeout: 2s, Net.DialTimeout: 1s}\n", "")
    assert settings(bare, Net__ReadTimeout="5s")["Net.ReadTimeout"] == "5s"


def test_what_is_wrong_is_shown_where_the_file_has_it() -> None:
    (value,) = problems(Net__ReadTimeout="soon")
    assert value.startswith("6:29 quantity Net.ReadTimeout: `soon`")
    (name,) = problems(Net__ReadTimeoutt="1s")
    assert name.startswith("6:")
    assert "unknown-setting sarama has no setting Net.ReadTimeoutt" in name


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
