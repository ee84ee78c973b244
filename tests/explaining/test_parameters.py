"""Protects the conditions of formulas: where one holds, a run takes its time, whatever the fault's parameters are."""

from collections.abc import Iterator, Mapping
from typing import Literal, get_args, get_origin

import pytest

from client.profiles import profile
from harness.explaining import (
    CaseCatalogue,
    ConfiguredCase,
    ExplainableCase,
    InvalidQuestion,
    Question,
    Simulate,
    configure_assuming,
    predictions,
)
from harness.explaining.simulated import Simulator, agree
from harness.levers import FLOWS
from harness.plan import PlannedFault
from harness.quantities import QuantityUnit

pytestmark = pytest.mark.ci

DURATIONS = ("200ms", "1500ms", "40s")
"""Shorter than every time-out below, between them, and longer than every one."""
DEFAULTS: dict[str, str] = {}
SETTINGS: Mapping[str, tuple[dict[str, str], ...]] = {
    "sarama": (
        DEFAULTS,
        {"Net.DialTimeout": "1s", "Net.ReadTimeout": "2s", "Net.WriteTimeout": "3s"},
        {"Net.DialTimeout": "5s", "Net.ReadTimeout": "1s", "Producer.Retry.Backoff": "400ms"},
        {"Net.DialTimeout": "300ms", "Net.ReadTimeout": "250ms", "Metadata.Retry.Backoff": "1s"},
        {"Net.DialTimeout": "1s", "Net.ReadTimeout": "2s", "Producer.Retry.Max": "0"},
    ),
    "kafka-go": (
        DEFAULTS,
        {"Writer.RequiredAcks": "all", "Writer.WriteTimeout": "1200ms", "Writer.BatchTimeout": "20ms",
         "NetDialer.Timeout": "300ms", "Transport.DialTimeout": "500ms", "Transport.MetadataTTL": "800ms"},
        {"Writer.RequiredAcks": "all", "Writer.WriteTimeout": "2s", "NetDialer.Timeout": "5s",
         "Transport.DialTimeout": "3s", "Transport.MetadataTTL": "1s"},
        {"Writer.RequiredAcks": "all", "Writer.BatchSize": "1", "Writer.WriteTimeout": "4s"},
        {"Dialer.Timeout": "4s", "Dialer.Deadline": "2s"},
    ),
}  # fmt: skip


def faults_of(case: ExplainableCase, version: str) -> Iterator[PlannedFault]:
    plan = configure_assuming(case, Question(version=version, given={})).configured_case.plan
    return (step for step in plan.steps if isinstance(step, PlannedFault))


def values(step: PlannedFault) -> Iterator[dict[str, str]]:
    """Each word that a parameter of the fault may be, its flows, and durations of all sizes, one at a time."""
    for name, info in type(step.fault).model_fields.items():
        kind = info.annotation
        words = get_args(kind) if get_origin(kind) is Literal else FLOWS if name == "flows" else ()
        spans = DURATIONS if any(isinstance(m, QuantityUnit) and m.unit == "s" for m in info.metadata) else ()
        yield from ({f"{step.alias}.{name}": str(value)} for value in (*words, *spans))


def questions(case: ExplainableCase) -> Iterator[Question]:
    for version in profile(case.client).releases:
        parameters = [{}, *(value for step in faults_of(case, version) for value in values(step))]
        for settings in SETTINGS[case.client]:
            yield from (Question(version=version, given={**settings, **parameter}) for parameter in parameters)


def answers(case: ExplainableCase) -> Iterator[tuple[Question, ConfiguredCase]]:
    for question in questions(case):
        try:
            yield question, configure_assuming(case, question).configured_case
        except InvalidQuestion:  # a value that the fault does not have together with the others
            continue


@pytest.mark.parametrize("client", SETTINGS)
def test_a_formula_holds_for_no_parameter_for_which_it_is_wrong(
    client: str, request: pytest.FixtureRequest, simulate: Simulate
) -> None:
    catalogue: CaseCatalogue = request.getfixturevalue(client.replace("-", "_"))
    wrong = []
    for case in catalogue.cases:
        simulator = Simulator(simulate)
        for question, configured_case in answers(case):
            for prediction in predictions(configured_case):
                run = simulator.run(configured_case, prediction.cited.measure)
                if not agree(prediction, run):
                    said = f"{prediction.cited.formula.name} = {prediction.seconds:.3f} s"
                    wrong.append(f"{case.name} {question.version} {dict(question.given)}: {said}, {run}")
    assert wrong == []
