"""From the words of `faultlab explain` to the question that they ask, with one suggestion for each that is wrong."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from cli.errors import Stop
from cli.giving import given
from client.errors import SettingError
from client.profiles import check_release, profiles
from harness.explaining import (
    Asked,
    Explanation,
    Library,
    Measurement,
    Mistake,
    Mistaken,
    Simulate,
    libraries,
    measurements,
)
from harness.faults import FAULTS
from harness.language.problems import did_you_mean
from harness.plan import RunPlan
from harness.quantities import QuantityError, duration_s, shown
from harness.records.folder import ResultsUnreadable
from harness.records.reader import folders, read
from harness.story import Story
from harness.suite.planning import refusals

MOST_SUITES = 10
"""So many results folders are looked through, newest first, for measurements of a formula."""


@dataclass(frozen=True, slots=True)
class Client:
    """`sarama@1.27.2`. `version` is None where none was named."""

    name: str
    version: str | None


def client_of(word: str, known: Mapping[str, Library]) -> Client:
    """Raises Stop for a client that cannot be explained, and for a release that it does not have."""
    name, _, version = word.partition("@")
    if name not in profiles():
        raise Stop(f"there is no client {shown(name)}", did_you_mean(name, profiles()))
    if name not in known:
        raise Stop(f"no scenario of {name} cites a formula yet", f"what can be explained: {', '.join(known)}")
    if version:
        try:
            check_release(profiles()[name], version)
        except SettingError as error:
            raise Stop(error.text, f"did you mean {name}@{error.suggestion}?" if error.suggestion else "") from error
    return Client(name, version or None)


def release_of(client: Client) -> str:
    """Raises Stop where the release was left out: releases differ in just what is asked."""
    if client.version is None:
        newest = profiles()[client.name].releases[-1]
        raise Stop(f"{client.name} of which release? They differ", f"write {client.name}@{newest}")
    return client.version


def checked_word(word: str, client: Client, library: Library) -> str:
    """A fault or a case that can be explained. Raises Stop."""
    if library.called(word):
        return word
    explained = f"one of {', '.join(library.faults)}"
    if word in FAULTS:
        raise Stop(f"no formula says yet what {word} costs {client.name}", explained)
    hint = did_you_mean(word, [*library.faults, *(case.name for case in library.cases)])
    hint = hint if hint.startswith("did") else explained
    raise Stop(f"there is no fault {shown(word)}", hint)


def seconds(option: str, text: str) -> float:
    """A duration above zero. Raises Stop."""
    try:
        found = duration_s(text)
    except QuantityError as error:
        raise Stop(f"{option}: {error.text}", error.hint) from error
    if found <= 0:
        raise Stop(f"{option} {text}: nothing happens in no time", f"write {option} 3s")
    return found


def bundled_libraries() -> Mapping[str, Library]:
    """What can be explained of the scenarios that come with faultlab. Raises Problems."""
    return libraries(Path(str(files("scenarios"))))


def simulator() -> Simulate:
    """Runs plans on virtual time. A run raises Mistaken where what was asked for can be made nowhere."""
    from harness.conductor import conduct
    from harness.environments.sim.environment import Sim  # here, since it brings much along

    sim = Sim(conduct)
    sim.open()

    def simulate(plan: RunPlan) -> Story:
        for problem in refusals((plan,), sim):
            raise Mistaken(Mistake(problem.message))
        return sim.run(plan, lambda _: None, None)

    return simulate


def measured_before(found: Explanation, results: Path) -> tuple[Measurement, ...]:
    """What earlier suites measured where this formula came to the same: the newest of each environment and driver.
    Simulated runs are left out: explaining makes them itself."""
    client = found.situation.plan.client
    newest: dict[tuple[str, str], Measurement] = {}
    for folder in folders(results)[:MOST_SUITES]:
        try:
            suite = read(folder)
        except ResultsUnreadable:
            continue  # a suite that cannot be read is no reason not to explain
        there = measurements(
            suite, client=client.name, version=client.version, expectation=found.answer.expectation,
            predicted_s=found.answer.seconds,
        )  # fmt: skip
        for one in there:
            if one.environment != "sim":
                newest.setdefault((one.environment, one.driver), one)
    return tuple(newest.values())


def asked(client: Client, words: Sequence[str], brokers: int | None, bootstrap: int | None) -> Asked:
    """Raises Stop."""
    return Asked(version=release_of(client), given=given(words), brokers=brokers, bootstrap=bootstrap)
