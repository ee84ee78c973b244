"""Protects what an explanation says: it was reckoned AND tried, and where the two differ nothing is claimed."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product

import pytest

from client.profiles import profile
from harness.explaining import (
    CaseCatalogue,
    ConfiguredCase,
    Explanation,
    InvalidQuestion,
    Prediction,
    Question,
    Simulate,
    explain,
)
from harness.explaining.effects import SAME_S
from harness.explaining.explanation import select_case
from harness.explaining.simulated import Simulator, agree
from harness.explaining.terms import explained_terms

pytestmark = pytest.mark.ci

RELEASE = "1.27.2"
SHORT = {"Net.ReadTimeout": "2s", "Net.DialTimeout": "1s", "Net.WriteTimeout": "3s"}


def ask(
    library: CaseCatalogue, simulate: Simulate, word: str, given: dict[str, str], budget_s: float | None = None
) -> Explanation:
    return explain(library, word, Question(version=RELEASE, given=given), simulate, budget_s=budget_s)


@pytest.fixture(scope="module")
def well_known(sarama: CaseCatalogue, simulate: Simulate) -> Explanation:
    """A question that several tests read the answer of; that it is the same each time, one of them holds."""
    return ask(sarama, simulate, "blackhole", SHORT)


def test_the_well_known_case(well_known: Explanation) -> None:
    found = well_known
    assert found.prediction.cited.formula.name == "established_blackhole"
    assert found.prediction.seconds == pytest.approx(8.85)
    assert found.run.seconds == pytest.approx(8.85, abs=0.01)
    assert found.agrees
    assert {(term.name, term.count, term.origin) for term in found.terms} == {
        ("Net.ReadTimeout", 2, "given"),
        ("Net.DialTimeout", 4, "given"),
        ("Producer.Retry.Backoff", 1, "default"),
        ("Metadata.Retry.Backoff", 3, "default"),
    }
    without = {one.setting for one in found.effects if one.none}
    assert {"Net.WriteTimeout", "Producer.Timeout", "Producer.Retry.Max"} <= without
    assert without.isdisjoint({term.name for term in found.terms})
    assert "Metadata.Retry.Max" not in without
    assert [one.case.name for one in found.related if one.case.name.startswith("bootstrap")] == ["bootstrap-blackhole"]


def every_answer(sarama: CaseCatalogue) -> Iterator[tuple[ConfiguredCase, Prediction]]:
    """Each bundled case with its scenario's own settings and several numbers of retries, as far as a formula holds."""
    for case, retries in product(sarama.cases, ("0", "1", "3")):
        given = case.settings | {"Producer.Retry.Max": retries}
        try:
            best = select_case(sarama, case.scenario, Question(version=RELEASE, given=given))
        except InvalidQuestion:
            continue
        yield best.configured_case, best.prediction


def test_the_terms_and_their_shares_add_up_in_every_bundled_case(sarama: CaseCatalogue) -> None:
    told = set()
    for configured_case, prediction in every_answer(sarama):
        told.add(configured_case.case.name)
        terms = explained_terms(configured_case, prediction)
        assert sum(term.total_s for term in terms) == pytest.approx(prediction.seconds)
        for term in terms:
            assert sum(share.count for share in term.shares) == pytest.approx(term.count), term.name
            assert all(share.meaning for share in term.shares)
    # This release has no limit for a handshake, and takes no time over a refusal.
    unfelt = {"tls-stalled", "tls-stalled-re-dial", "sasl-refused"}
    assert told == {case.name for case in sarama.cases} - unfelt


def test_every_bundled_formula_takes_the_time_that_it_says(sarama: CaseCatalogue, simulate: Simulate) -> None:
    tried = set()
    simulator = Simulator(simulate)
    for configured_case, prediction in every_answer(sarama):
        run = simulator.run(configured_case, prediction.cited.measure)
        assert agree(prediction, run), f"{configured_case.case.name}: {prediction.seconds} by the formula, {run}"
        error = prediction.cited.formula.error
        if error is not None and prediction.cited.measure.endswith("time_to_error"):
            assert error in (run.error or ""), configured_case.case.name
        tried.add(prediction.cited.formula.name)
    assert {"established_blackhole", "bootstrap_blackhole", "bootstrap_refused"} <= tried


def test_no_effect_is_said_of_nothing_that_was_not_tried_both_ways(well_known: Explanation) -> None:
    found = well_known
    kinds = {setting.name: setting.kind for setting in profile("sarama").settings.for_release(RELEASE)}
    assert {one.setting for one in found.effects} == {n for n, kind in kinds.items() if kind in ("duration", "count")}
    for one in found.effects:
        if one.none:
            value = found.configured_case.settings[one.setting].value or 0.0
            tried = {trial.changes[0][1] for trial in one.trials}
            assert tried, one.setting
            if value > 1:
                assert min(tried) < value < max(tried), one.setting
            for trial in one.trials:
                if trial not in one.turning_points:
                    assert trial.predicted_s == found.prediction.seconds
                    assert trial.run.seconds == pytest.approx(found.run.seconds, abs=SAME_S)


def test_a_setting_that_switches_to_another_formula_says_where(well_known: Explanation) -> None:
    found = well_known
    turning_points = next(one.turning_points for one in found.effects if one.setting == "Producer.Retry.Max")
    assert [trial.changes for trial in turning_points] == [(("Producer.Retry.Max", 0.0),)]
    assert turning_points[0].predicted_s == pytest.approx(2.0)
    assert turning_points[0].agrees


def test_what_the_formula_does_not_know_is_found_by_running_it(well_known: Explanation) -> None:
    found = well_known
    cut = next(one for one in found.effects if one.setting == "Metadata.Timeout")
    assert not cut.none
    assert cut.beyond_formula[0].predicted_s is None, "the formula asks that it is off"
    assert (cut.beyond_formula[0].run.seconds or 99) < 8


def test_levers_are_sorted_and_every_one_was_tried(well_known: Explanation) -> None:
    found = well_known
    assert [dict(trial.changes) for trial in found.reductions[:1]] == [{"Metadata.Retry.Max": 1.0}]
    times = [trial.predicted_s for trial in found.reductions]
    assert times == sorted(times)
    assert all(trial.agrees and trial.run.seconds is not None for trial in found.reductions)
    assert all(trial.run.seconds < 8.85 for trial in found.reductions)


def test_claims_of_the_scenario_are_held_against_the_run(sarama: CaseCatalogue, simulate: Simulate) -> None:
    found = ask(sarama, simulate, "blackhole", {**SHORT, "Producer.Retry.Max": "1"})
    told = {claimed.expectation.formula: (claimed.predicted_s, claimed.holds) for claimed in found.claims}
    assert told["Net.WriteTimeout + 4*Net.DialTimeout"] == (pytest.approx(7.0), False)
    accident = {**SHORT, "Net.ReadTimeout": "3s", "Net.WriteTimeout": "3001ms", "Producer.Retry.Max": "0"}
    found = ask(sarama, simulate, "blackhole", accident)
    assert [claimed.holds for claimed in found.claims] == [True], "right by accident: ReadTimeout is about as long"


def test_a_formula_that_is_wrong_is_not_explained(
    changed: Callable[[str, str], CaseCatalogue], simulate: Simulate
) -> None:
    library = changed("term: cluster.brokers*Net.DialTimeout,", "term: (cluster.brokers + 1)*Net.DialTimeout,")
    found = ask(library, simulate, "blackhole-established", SHORT, budget_s=3.0)
    assert found.prediction.seconds == pytest.approx(9.85)
    assert found.run.seconds == pytest.approx(8.85, abs=0.01)
    assert not found.agrees
    assert (found.effects, found.reductions, found.others, found.claims, found.budget) == ((), (), (), (), None)
    assert found.breakdown is not None, "where the time went is a measurement: it is shown all the same"


def test_a_formula_that_forgets_how_often_is_found_out_by_its_effects(
    changed: Callable[[str, str], CaseCatalogue], simulate: Simulate
) -> None:
    """With three retries it is right; whether it is right for others only other runs can say."""
    library = changed(
        "term: Metadata.Retry.Max*client.bootstrap.count*Net.DialTimeout",
        "term: 3*client.bootstrap.count*Net.DialTimeout",
    )
    found = ask(library, simulate, "blackhole-established", SHORT)
    assert found.agrees
    retries = next(one for one in found.effects if one.setting == "Metadata.Retry.Max")
    assert [dict(trial.changes)["Metadata.Retry.Max"] for trial in retries.beyond_formula] == [1.0, 6.0]
    assert not any(trial.changes[0][0] == "Metadata.Retry.Max" for trial in found.reductions)


def test_a_formula_that_leaves_a_setting_out_is_found_and_the_setting_named(
    sarama: CaseCatalogue, simulate: Simulate
) -> None:
    """Messages are kept back for a while before each request."""
    found = ask(sarama, simulate, "blackhole-established", {**SHORT, "Producer.Flush.Frequency": "3s"})
    assert not found.agrees
    assert found.run.seconds is not None
    assert found.run.seconds > 1.2 * found.prediction.seconds
    assert [trial.changes for trial in found.would_hold_with] == [
        (("Producer.Flush.Bytes", 1.0),), (("Producer.Flush.Messages", 1.0),), (("Producer.Flush.Frequency", 0.0),),
    ]  # fmt: skip


def test_a_formula_holds_as_long_as_nothing_comes_between(
    sarama: CaseCatalogue, changed: Callable[[str, str], CaseCatalogue], simulate: Simulate
) -> None:
    """It takes half an hour: the refresh in the background, every 10 minutes, waits beside it and makes it longer."""
    question = Question(version=RELEASE, given={}, brokers=12, bootstrap=12)
    with pytest.raises(InvalidQuestion) as caught:
        explain(sarama, "blackhole-established", question, simulate)
    assert caught.value.mistakes[0].message.endswith(
        "it is not so that (Metadata.RefreshFrequency == 0s or sum < Metadata.RefreshFrequency)"
        " (Metadata.RefreshFrequency is 10m, sum is 1830.850 s)"
    )
    found = explain(sarama, "blackhole-established", replace(question, given={"RefreshFrequency": "0s"}), simulate)
    assert found.agrees
    careless = changed("or sum < Metadata.RefreshFrequency", "or sum > Metadata.RefreshFrequency")
    assert not explain(careless, "blackhole-established", question, simulate).agrees, "so the condition is needed"


def test_a_limit_on_refreshes_is_no_case_of_the_formula(sarama: CaseCatalogue, simulate: Simulate) -> None:
    with pytest.raises(InvalidQuestion, match=r"it is not so that Metadata\.Timeout == 0s \(it is 1s\)"):
        ask(sarama, simulate, "blackhole-established", {**SHORT, "Metadata.Timeout": "1s"})


def test_a_case_of_which_no_formula_holds_says_what_is_missing(sarama: CaseCatalogue, simulate: Simulate) -> None:
    with pytest.raises(InvalidQuestion) as caught:
        ask(sarama, simulate, "latency-above-read-timeout", {})
    assert caught.value.mistakes[0].message.endswith("it is not so that 2*slow.delay > Net.ReadTimeout (it is 30s)")


def test_the_same_question_has_the_same_answer(sarama: CaseCatalogue, simulate: Simulate) -> None:
    assert ask(sarama, simulate, "blackhole", SHORT, 3.0) == ask(sarama, simulate, "blackhole", SHORT, 3.0)


def test_what_would_explain_it_better_is_named_with_the_reason(
    sarama: CaseCatalogue, simulate: Simulate, well_known: Explanation
) -> None:
    """Many brokers outlast the refresh in the background: another case answers, and it says so."""
    many = explain(sarama, "blackhole", Question(version=RELEASE, given={}, brokers=12, bootstrap=12), simulate)
    assert many.configured_case.case.name == "leader-dark"
    assert many.inapplicable is not None
    assert many.inapplicable.case.name == "blackhole-established"
    assert "sum < Metadata.RefreshFrequency" in many.inapplicable.reasons[0]
    assert well_known.inapplicable is None


def test_a_case_assumes_the_mode_without_which_it_says_nothing(kafka_go: CaseCatalogue, sarama: CaseCatalogue) -> None:
    """A Writer waits for no acknowledgement by default: who asks what a blackhole costs it means one that does."""
    asked = select_case(kafka_go, "blackhole", Question(version="0.4.50", given={}))
    assert asked.configured_case.case.name == "blackhole-established"
    assert [(one.name, one.text, one.default) for one in asked.assumed] == [("Writer.RequiredAcks", "all", "none")]
    assert asked.configured_case.settings["Writer.WriteTimeout"].value == 10.0, "all else is as the client has it"
    given = select_case(kafka_go, "blackhole", Question(version="0.4.50", given={"Writer.RequiredAcks": "none"}))
    assert given.assumed == (), "what the question gives stays"
    counted = select_case(sarama, "blackhole", Question(version=RELEASE, given={}))
    assert (counted.configured_case.case.name, counted.assumed) == ("blackhole-established", ())


def test_a_release_that_no_formula_covers_is_waited_for_to_its_end(sarama: CaseCatalogue, simulate: Simulate) -> None:
    found = ask(sarama, simulate, "later-messages", {"Producer.Retry.Max": "0"})
    (other,) = found.others
    assert other.prediction is None
    assert other.run is not None
    assert (other.run.seconds or 0.0) > 120.0, other.run.why
