"""Protects the key of a case: repeats share it, projections leave out what they name, and the broker is part of it."""

import pytest
import record_samples as samples

from harness.records.agreement import AgreementRecord
from harness.records.case_key import CaseKey, by_case, case_key
from harness.records.run import NamedValue

KEY = CaseKey(
    scenario="dark", client="sarama", version="1.27.2", driver="real", environment="local",
    parameters=(("client.version", "1.27.2"), ("cluster.brokers", "3")),
)  # fmt: skip


def test_repeats_share_a_key_and_runs_of_another_broker_do_not() -> None:
    first = samples.run("aaaaaaaaaaaa")
    repeat = first.model_copy(update={"run_id": "bbbbbbbbbbbb", "repeat": 2, "seed": 9})
    newer = first.model_copy(update={"broker": "apache", "broker_version": "4.1.0"})
    cases = by_case([first, newer, repeat])
    assert list(cases.values()) == [[first, repeat], [newer]]
    assert case_key(newer) == case_key(first)._replace(broker="apache", broker_version="4.1.0")


@pytest.mark.parametrize("field", CaseKey._fields[2:])
def test_a_key_without_a_field_is_equal_whatever_the_field_is(field: str) -> None:
    other = KEY._replace(**{field: (("one", "two"),) if field == "parameters" else "another"})
    assert other != KEY
    assert other.without(field) == KEY.without(field)


def test_releases_and_sides_of_a_case_have_one_key() -> None:
    newer = KEY._replace(version="1.60.1", parameters=(("client.version", "1.60.1"), ("cluster.brokers", "3")))
    assert newer.in_any_release == KEY.in_any_release
    assert KEY._replace(parameters=()).in_any_release != KEY.in_any_release
    assert KEY._replace(driver="bundled", environment="sim").on_any_side == KEY.on_any_side
    assert newer.on_any_side != KEY.on_any_side


def test_an_agreement_is_about_the_case_on_any_side() -> None:
    run = samples.run("aaaaaaaaaaaa").model_copy(update={"parameters": (NamedValue(name="cluster.brokers", text="3"),)})
    record = AgreementRecord(
        scenario=run.scenario, path="", client=run.client, client_version=run.client_version, brokers=3,
        parameters=run.parameters, measure="probe.outcome", unit="outcome", sides=(), compared=(), outcome="agrees",
    )  # fmt: skip
    assert case_key(record) == case_key(run).on_any_side


def test_the_broker_is_written_unless_it_is_the_embedded_one() -> None:
    assert KEY.as_json() == {
        "scenario": "dark", "client": "sarama", "version": "1.27.2", "driver": "real", "environment": "local",
        "parameters": {"client.version": "1.27.2", "cluster.brokers": "3"},
    }  # fmt: skip
    real = KEY._replace(broker="apache", broker_version="4.1.0")
    assert real.as_json() == KEY.as_json() | {"broker": "apache", "broker_version": "4.1.0"}
    run = samples.run("aaaaaaaaaaaa")
    assert "broker_version" not in run.model_dump(mode="json")
    assert run.model_copy(update={"broker_version": "4.1.0"}).model_dump(mode="json")["broker_version"] == "4.1.0"
