"""Protects the ids of cases: readable, stable, and never the same for two cases of a scenario."""

from harness.plan import ResolvedValue
from harness.suite.naming import case_id


def named(**values: str) -> list[ResolvedValue]:
    return [ResolvedValue(name=name.replace("__", "."), text=text, unit="text") for name, text in values.items()]


def test_settings_go_by_their_own_names() -> None:
    assert case_id("dark", []) == "dark"
    told = named(
        settings__Producer__Retry__Max="1", cluster__brokers="3", client__bootstrap="[1, 2]", outage__delay="2s"
    )
    assert case_id("dark", told) == "dark[Producer.Retry.Max=1,brokers=3,bootstrap=1+2,outage.delay=2s]"


def test_names_that_would_be_alike_stay_whole() -> None:
    told = named(settings__brokers="a", cluster__brokers="3")
    assert case_id("dark", told) == "dark[settings.brokers=a,cluster.brokers=3]"


def test_what_no_terminal_shows_is_escaped() -> None:
    assert case_id("dark", named(settings__a="x\n\x1b[0m")) == "dark[a=x\\n\\x1b[0m]"
