"""Protects what a question means: names, defaults, parameters of the fault, and what can be wrong with it."""

import pytest

from client.profiles import profile
from harness.explaining import (
    CaseCatalogue,
    ConfiguredCase,
    InvalidQuestion,
    Prediction,
    Question,
    configure_case,
    predictions,
)
from harness.explaining.configured_case import settings_in
from harness.explaining.conjuncts import conjuncts, described, failing_conjuncts

RELEASE = "1.27.2"


def ask(
    sarama: CaseCatalogue, case: str, *, brokers: int | None = None, bootstrap: int | None = None, **given: str
) -> ConfiguredCase:
    texts = {name.replace("_", "."): text for name, text in given.items()}
    return configure_case(
        sarama.cases_for(case)[0], Question(version=RELEASE, given=texts, brokers=brokers, bootstrap=bootstrap)
    )  # fmt: skip


def only(configured_case: ConfiguredCase) -> Prediction:
    found = predictions(configured_case)
    assert len(found) == 1
    return found[0]


def test_what_is_not_given_is_the_clients_default_whatever_the_scenario_sets(sarama: CaseCatalogue) -> None:
    found = ask(sarama, "blackhole-established")
    table = profile("sarama").settings
    for name, named in found.settings.items():
        setting = table.find(name, RELEASE)
        if setting.kind == "duration":
            assert named.value == setting.default, name
    assert found.plan.given_settings == ()
    assert only(found).seconds == pytest.approx(180.85)


def test_short_names_and_full_ones_mean_the_same(sarama: CaseCatalogue) -> None:
    short = ask(sarama, "blackhole-established", ReadTimeout="2s", DialTimeout="1s")
    full = ask(sarama, "blackhole-established", Net_ReadTimeout="2s", Net_DialTimeout="1s")
    assert short.plan == full.plan
    assert short.plan.given_settings == ("Net.ReadTimeout", "Net.DialTimeout")
    assert only(short).seconds == pytest.approx(8.85)


@pytest.mark.parametrize(
    ("brokers", "bootstrap", "seconds"),
    [(None, None, 8.85), (3, None, 10.85), (3, 3, 18.85), (3, 1, 10.85), (None, 3, 18.85)],
)
def test_brokers_and_addresses(
    sarama: CaseCatalogue, brokers: int | None, bootstrap: int | None, seconds: float
) -> None:
    found = ask(
        sarama, "blackhole-established", brokers=brokers, bootstrap=bootstrap, ReadTimeout="2s", DialTimeout="1s"
    )  # fmt: skip
    assert only(found).seconds == pytest.approx(seconds)


def test_parameters_of_the_fault_are_given_by_the_name_that_formulas_use(sarama: CaseCatalogue) -> None:
    assert only(ask(sarama, "sarama-latency", slow_delay="300ms")).seconds == pytest.approx(0.6)


@pytest.mark.parametrize(
    ("given", "message", "hint"),
    [
        ({"Net.ReadTimeoot": "3s"}, "sarama has no setting Net.ReadTimeoot", "did you mean Net.ReadTimeout?"),
        ({"Net.ReadTimeout": "3"}, "Net.ReadTimeout: `3` is not a duration", "write its unit: 3s or 3ms"),
        ({"Net.ReadTimeout": "0s"}, "kafka: invalid configuration (Net.ReadTimeout must be > 0)", ""),
        (
            {"Backoff": "3s"},
            "Backoff could be Metadata.Retry.Backoff or Producer.Retry.Backoff",
            "write Metadata.Retry.Backoff",
        ),
        ({"ReadTimeout": "1s", "Net.ReadTimeout": "2s"}, "Net.ReadTimeout is set twice", "keep one of them"),
        ({"Producer.Retry.Max": "1.5"}, "Producer.Retry.Max is a whole number, not `1.5`", None),
        ({"outage.flow": "to_broker"}, "blackhole has no parameter `flow`", "did you mean flows?"),
        ({"Metadata.Full": "on"}, "`on` is a text in YAML 1.2, not a switch", "write true, or quote it"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_mistake_is_named_with_one_suggestion(
    sarama: CaseCatalogue, given: dict[str, str], message: str, hint: str | None
) -> None:
    with pytest.raises(InvalidQuestion) as caught:
        configure_case(sarama.cases_for("blackhole-established")[0], Question(version=RELEASE, given=given))
    first = caught.value.mistakes[0]
    assert first.message == message
    if hint is not None:
        assert first.hint == hint


def test_all_mistakes_at_once(sarama: CaseCatalogue) -> None:
    with pytest.raises(InvalidQuestion) as caught:
        ask(sarama, "blackhole-established", brokers=1, bootstrap=2, Net_ReadTimeoot="3s", Net_DialTimeout="1")
    messages = " ".join(mistake.message for mistake in caught.value.mistakes)
    assert "2 bootstrap addresses are more than the brokers: 1" in messages
    assert "Net.ReadTimeoot" in messages
    assert "Net.DialTimeout" in messages


def test_other_values_make_another_run_and_what_the_client_refuses_makes_none(sarama: CaseCatalogue) -> None:
    found = ask(sarama, "blackhole-established")
    other = found.with_settings({"Net.ReadTimeout": 1.5, "Producer.Retry.Max": 2})
    assert other is not None
    assert other.settings["Net.ReadTimeout"].text == "1.5s"
    assert other.settings["Producer.Retry.Max"].text == "2"
    assert other.plan.run_id != found.plan.run_id
    assert found.with_settings({"Net.ReadTimeout": 0.0}) is None


def test_the_lab_is_more_patient_than_any_formula(sarama: CaseCatalogue) -> None:
    found = ask(sarama, "blackhole-established", ReadTimeout="10m", DialTimeout="10m", RefreshFrequency="0s")
    patience = max(step.give_up_after_s for step in found.plan.steps if hasattr(step, "give_up_after_s"))
    assert patience > 2 * only(found).seconds
    assert found.plan.limit_s > patience


def test_conditions_are_told_part_by_part_with_the_values_that_decide(sarama: CaseCatalogue) -> None:
    found = ask(sarama, "latency-above-read-timeout")
    assert predictions(found) == ()
    cited = next(one for one in found.case.cited if one.formula.name == "never_answered")
    when = found.expectation(cited).when
    assert when is not None
    assert failing_conjuncts(when, found, cited.formula.text) == ("2*slow.delay > Net.ReadTimeout (it is 30s)",)
    assert "Producer.Retry.Max >= 1" in conjuncts(when)
    formula_text = cited.formula.text
    assert described("Producer.Retry.Max >= 1", found, formula_text) == "Producer.Retry.Max >= 1 (it is 3)"
    assert described("client.version == '1.27.2'", found, formula_text) == "client.version == '1.27.2'"
    between = described("RefreshFrequency == 0s or (ReadTimeout) < RefreshFrequency", found, "ReadTimeout")
    assert between == (
        "(RefreshFrequency == 0s or sum < RefreshFrequency) (Metadata.RefreshFrequency is 10m, sum is 30.000 s)"
    )
    assert conjuncts(None) == ()


def test_settings_of_a_text_are_found_under_every_spelling(sarama: CaseCatalogue) -> None:
    plan = ask(sarama, "blackhole-established").plan
    text = "2*ReadTimeout + setting('Net.DialTimeout') + cluster.brokers*1s + min(Net.ReadTimeout, 250ms)"
    assert set(settings_in(text, plan)) == {"Net.ReadTimeout", "Net.DialTimeout"}
    assert settings_in("client.version == 'Net.WriteTimeout'", plan) == ()
