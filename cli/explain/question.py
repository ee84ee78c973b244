"""From the words of `faultlab explain` to the question that they ask, with one suggestion for each that is wrong."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from cli.arguments import parse_settings
from cli.errors import CommandError
from client.errors import SettingError
from client.profiles import check_release, profiles
from harness.explaining import (
    BOOTSTRAP,
    CaseCatalogue,
    Explanation,
    InvalidQuestion,
    Measurement,
    Mistake,
    Question,
    Simulate,
    case_catalogues,
    measurements,
)
from harness.faults import FAULTS
from harness.plan import RunPlan
from harness.quantities import quote_value
from harness.records.folder import ResultsUnreadable
from harness.records.reader import folders, read
from harness.story import Story
from harness.suggestions import did_you_mean
from harness.suite.planning import unsupported_by

MAX_SUITES = 10
"""How many results folders are searched for measurements of a formula, newest first."""


@dataclass(frozen=True, slots=True)
class ClientRelease:
    """`sarama@1.27.2`. `version` is None where none was named."""

    name: str
    version: str | None


def parse_client_release(word: str, known: Mapping[str, CaseCatalogue]) -> ClientRelease:
    """Raises CommandError for a client that cannot be explained, and for a release that it does not have."""
    name, _, version = word.partition("@")
    if name not in profiles():
        raise CommandError(f"there is no client {quote_value(name)}", did_you_mean(name, profiles()))
    if name not in known:
        raise CommandError(f"no scenario of {name} cites a formula yet", f"what can be explained: {', '.join(known)}")
    if version:
        try:
            check_release(profiles()[name], version)
        except SettingError as error:
            raise CommandError(
                error.text, f"did you mean {name}@{error.suggestion}?" if error.suggestion else ""
            ) from error
    return ClientRelease(name, version or None)


def require_release(client: ClientRelease) -> str:
    """Raises CommandError where the release was left out: releases differ in just what is asked."""
    if client.version is None:
        newest = profiles()[client.name].releases[-1]
        raise CommandError(f"{client.name} of which release? They differ", f"write {client.name}@{newest}")
    return client.version


def check_fault_or_case(word: str, client: ClientRelease, catalogue: CaseCatalogue) -> str:
    """A fault or a case that can be explained. Raises CommandError."""
    if catalogue.cases_for(word) or catalogue.chance_cases_for(word):
        return word
    words = [*catalogue.faults, *([BOOTSTRAP] if catalogue.by_chance else [])]
    explained = f"one of {', '.join(words)}"
    if word in FAULTS:
        raise CommandError(f"no formula says yet what {word} costs {client.name}", explained)
    names = [case.name for case in catalogue.cases] + [one.case.name for one in catalogue.by_chance]
    hint = did_you_mean(word, [*words, *names])
    hint = hint if hint.startswith("did") else explained
    raise CommandError(f"there is no fault {quote_value(word)}", hint)


def bundled_catalogues() -> Mapping[str, CaseCatalogue]:
    """What can be explained of the scenarios that come with faultlab. Raises Problems."""
    return case_catalogues(Path(str(files("scenarios"))))


def simulator() -> Simulate:
    """Runs plans on virtual time. A run raises InvalidQuestion where what was asked for can be made nowhere."""
    from harness.suite.environment_choice import make  # here, since it brings much along

    sim = make("sim")

    def simulate(plan: RunPlan) -> Story:
        for problem in unsupported_by((plan,), sim):
            raise InvalidQuestion(Mistake(problem.message))
        return sim.run(plan, lambda _: None, None)

    return simulate


def earlier_measurements(found: Explanation, results: Path) -> tuple[Measurement, ...]:
    """What earlier suites measured where this formula came to the same: the newest of each environment and driver.
    Simulated runs are left out: explaining makes them itself."""
    client = found.configured_case.plan.client
    newest: dict[tuple[str, str], Measurement] = {}
    for folder in folders(results)[:MAX_SUITES]:
        try:
            suite = read(folder)
        except ResultsUnreadable:
            continue  # explain all the same
        there = measurements(
            suite, client=client.name, version=client.version, expectation=found.prediction.expectation,
            predicted_s=found.prediction.seconds,
        )  # fmt: skip
        for one in there:
            if one.environment != "sim":
                newest.setdefault((one.environment, one.driver), one)
    return tuple(newest.values())


def question_of(client: ClientRelease, words: Sequence[str], brokers: int | None, bootstrap: int | None) -> Question:
    """Raises CommandError."""
    return Question(version=require_release(client), given=parse_settings(words), brokers=brokers, bootstrap=bootstrap)
