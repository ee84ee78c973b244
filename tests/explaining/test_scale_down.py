"""Protects what is said of a scale-down: there is an answer whatever becomes of the addresses, by the right formula."""

from itertools import product

import pytest

from client.profiles import profile
from harness.explaining import (
    CaseCatalogue,
    ChanceExplanation,
    Explanation,
    Question,
    Simulate,
    decided_by_chance,
    explain,
    explain_chance,
)

pytestmark = pytest.mark.ci

SEEDS = 60
SARAMA, KAFKA_GO = profile("sarama").releases, profile("kafka-go").releases
REFUSED, BLACKHOLED, FOREIGN = "refuse", "blackhole", "foreign"
WAYS = (*product((REFUSED, BLACKHOLED), ("leaders", "ports")), (FOREIGN, "leaders"))
"""What becomes of the addresses, and what goes first: neither is where they answer as another cluster."""


def ask(catalogue: CaseCatalogue, simulate: Simulate, version: str, then: str, first: str) -> str:
    """The name of the formula or distribution that answers at the client's defaults."""
    given = {"outage.then": then, "outage.first": first}
    question = Question(version=version, given=given)
    by_chance = decided_by_chance(catalogue, "scale_down", question)
    found: Explanation | ChanceExplanation
    if by_chance is None:
        found = explain(catalogue, "scale_down", question, simulate)
        assert found.agrees, found.run
        return found.prediction.cited.formula.name
    found = explain_chance(by_chance, question, simulate, seeds=SEEDS)
    assert found.agrees, found.drawn.sample.counts
    assert len(found.drawn.predicted.outcomes) > 1, "chance decides"
    return found.distribution.name


@pytest.mark.parametrize(("then", "first"), WAYS)
@pytest.mark.parametrize("version", SARAMA)
def test_every_release_of_sarama_has_an_answer(
    sarama: CaseCatalogue, simulate: Simulate, version: str, then: str, first: str
) -> None:
    told = {REFUSED: "one_retry_finds_the_leader", BLACKHOLED: "scaled_down_blackholed",
            FOREIGN: "one_retry_finds_the_leader"}  # fmt: skip
    if version != SARAMA[0] and then != REFUSED:
        told[then] = "scaled_down"  # it may ask the broker that has left
    assert ask(sarama, simulate, version, then, first) == told[then]


@pytest.mark.parametrize(("then", "first"), WAYS)
@pytest.mark.parametrize("version", KAFKA_GO)
def test_every_release_of_kafka_go_has_an_answer(
    kafka_go: CaseCatalogue, simulate: Simulate, version: str, then: str, first: str
) -> None:
    retries = version == KAFKA_GO[-1]
    told = {REFUSED: "scaled_down" if retries else "fails_at_once",
            BLACKHOLED: "leader_gone_retried" if retries else "leader_gone", FOREIGN: "scaled_down"}  # fmt: skip
    assert ask(kafka_go, simulate, version, then, first) == told[then]


def test_how_often_metadata_comes_too_late_is_what_many_seeds_say(kafka_go: CaseCatalogue, simulate: Simulate) -> None:
    """With few tries it may not come at all."""
    given = {"outage.then": FOREIGN, "Writer.MaxAttempts": "3"}
    question = Question(version=KAFKA_GO[0], given=given)
    case = decided_by_chance(kafka_go, "scale_down", question)
    assert case is not None
    found = explain_chance(case, question, simulate, seeds=200)
    assert [(one.name, one.text) for one in found.assumed] == [("Writer.RequiredAcks", "all")]
    assert sum(one.chance for one in found.drawn.predicted.outcomes) == pytest.approx(1)
    assert 0.5 < found.drawn.predicted.failing < 1
    assert found.agrees, found.drawn.sample.counts
