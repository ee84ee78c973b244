"""The suite in a few sentences: its result, what was found, when and on what machine."""

import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime

from harness.records.manifest import Manifest
from reports import figures
from reports.pages.cases import Case, Row
from reports.pages.claims import Claim
from reports.pages.heat import Heat
from reports.pages.verdicts import SEVERITY_ORDER, WORDS

PLURALS = {"expectation": "expectations", "statistic over repeats": "statistics over repeats"}
OUTCOME_ORDER = ("refuted", "held", "mixed", "inconclusive")
"""Outcomes of claims, in the order in which the page names them."""
SINGLE_CASE_WORDS = {
    "pass": "passed",
    "fail": "failed",
    "inconclusive": "is inconclusive",
    "lab_error": "ended in a lab error",
    "skipped": "was skipped",
}


def headline(cases: Iterable[Case]) -> str:
    """The result in one sentence."""
    counted = Counter(case.verdict for case in cases)
    total = sum(counted.values())
    if total == 1:
        return f"The one case {SINGLE_CASE_WORDS[next(iter(counted))]}."
    if counted["pass"] == total:
        return f"All {total:,} cases passed."
    failed = counted["fail"]
    first = f"{failed:,} of {total:,} cases failed" if failed else f"{counted['pass']:,} of {total:,} cases passed"
    rest = [
        f"{counted[verdict]:,} {'lab errors' if verdict == 'lab_error' and counted[verdict] > 1 else WORDS[verdict]}"
        for verdict in ("lab_error", "inconclusive", "skipped")
        if counted[verdict]
    ]
    return "; ".join([first, *rest]) + "."


def lead(heat: Heat, claims: Sequence[Claim], agreement: str) -> str:
    """What was found, beyond verdicts and the longest hang: who agrees, and what became of the claims."""
    sentences = [heat.no_error] if heat.no_error else []
    if agreement:
        sentences.append(f"Profiles, simulation and real clients: {agreement}")
    if claims:
        against = sum(claim.as_declared is False for claim in claims)
        declared = "all as declared" if all(claim.as_declared for claim in claims) else ""
        how = f"{against:,} against what was declared" if against else declared
        if len(claims) == 1:
            told, how = f"1 claim {outcome_phrase(claims[0].verdict, 1)}", how.removeprefix("all ").removeprefix("1 ")
            sentences.append(f"{told}{', ' if how else ''}{how}.")
        else:
            sentences.append(f"{len(claims):,} claims: {outcomes_of(claims)}{'; ' if how else ''}{how}.")
    return " ".join(sentences)


def outcome_phrase(verdict: str, count: int) -> str:
    """What so many claims with that verdict are said to have become."""
    some = f"{'holds' if count == 1 else 'hold'} in some cases only"
    return {"mixed": some, "inconclusive": "could not be judged"}.get(verdict, verdict)


def outcomes_of(claims: Sequence[Claim]) -> str:
    """`6 refuted, 2 held`: each claim once."""
    counted = Counter(claim.verdict for claim in claims)
    return ", ".join(f"{counted[one]:,} {outcome_phrase(one, counted[one])}" for one in OUTCOME_ORDER if counted[one])


def claimed(claims: Sequence[Claim]) -> str:
    """`8 formulas from published texts: 6 refuted, 2 held.`"""
    return f"{figures.many(len(claims), 'published formula')}: {outcomes_of(claims)}."


def judged(verdicts: Iterable[str]) -> str:
    """What became of the expectations of single runs."""
    counted = Counter(verdicts)
    if not counted:
        return "No expectation was judged in these runs."
    return sentence(counted, "expectation")


def statistics(verdicts: Iterable[str]) -> str:
    """What became of what was expected of all runs of a case together."""
    return sentence(Counter(verdicts), "statistic over repeats")


def sentence(counted: Counter[str], noun: str) -> str:
    """`3 of 5 statistics over repeats passed; 1 failed; 1 inconclusive.`, or the verdict of an only one."""
    if counted.total() == 1:
        return f"The one {noun} {SINGLE_CASE_WORDS[next(iter(counted))]}."
    first = f"{counted['pass']:,} of {counted.total():,} {PLURALS[noun]} passed"
    rest = (("fail", "failed"), ("inconclusive", "inconclusive"))
    return "; ".join([first, *(f"{counted[one]:,} {word}" for one, word in rest if counted[one])]) + "."


def facts(runs: Sequence[Row], manifests: Sequence[Manifest]) -> str:
    """What the suite was: its size, when and how long it ran, on what, and from which seed and commit."""
    scenarios = len({run["scenario"] for run in runs})
    environments = " and ".join(sorted({run["environment"] for run in runs}))
    began = min((run["started_at"] for run in runs), default="")
    took_s = lasted_s(runs)
    parts = [
        figures.many(len(runs), "run"),
        f"{figures.many(scenarios, 'scenario')} on {environments}",
        figures.day(manifests[0].started_at if manifests else began),
        f"took {figures.duration(took_s)}" if took_s is not None else "",
        *(f"{name} {', '.join(texts)}" for name, texts in origins(manifests) if texts),
        "; ".join(sorted({one.machine for one in manifests})),
    ]
    return " \u00b7 ".join(part for part in parts if part)


def origins(manifests: Sequence[Manifest]) -> tuple[tuple[str, list[str]], ...]:
    """What made the results: the release, the seed, the commit of the repository in which the command was given."""
    return (
        ("faultlab", sorted({one.faultlab for one in manifests})),
        ("seed", sorted({str(one.seed) for one in manifests})),
        ("commit", sorted({one.commit for one in manifests if one.commit})),
    )


def lasted_s(runs: Iterable[Row]) -> float | None:
    """Wall time from the first run's beginning to the last one's end, suite by suite; None where no clock says it."""
    ends: dict[int, tuple[float, float]] = {}
    for run in runs:
        try:
            began_s = datetime.fromisoformat(run["started_at"]).timestamp()
        except ValueError:
            return None
        first_s, last_s = ends.get(run["suite"], (began_s, began_s))
        ends[run["suite"]] = min(first_s, began_s), max(last_s, began_s + run["duration_s"])
    return sum(last_s - first_s for first_s, last_s in ends.values()) if ends else None


def commands(manifests: Sequence[Manifest]) -> tuple[str, ...]:
    """Each command that made the results, as it is typed."""
    return tuple(dict.fromkeys(shlex.join(["faultlab", "run", *one.arguments]) for one in manifests))


def counts(cases: Iterable[Case]) -> tuple[tuple[str, str, int], ...]:
    counted = Counter(case.verdict for case in cases)
    return tuple((verdict, WORDS[verdict], counted[verdict]) for verdict in SEVERITY_ORDER if counted[verdict])


def warnings(runs: Sequence[Row], manifests: Sequence[Manifest], quarantined: Sequence[Row]) -> tuple[str, ...]:
    """What the reader must know before trusting any figure."""
    there = {run["run_id"] for run in runs}
    texts = []
    missing = sum(run_id not in there for one in manifests for run_id in one.run_ids)
    if missing:
        folders = sorted({one.suite for one in manifests if any(run_id not in there for run_id in one.run_ids)})
        verb = "has" if missing == 1 else "have"
        texts.append(
            f"{figures.many(missing, 'planned run')} {verb} no record: {', '.join(folders)} was interrupted, or is "
            "still running. Resume it: faultlab run --resume, with that folder."
        )
    if quarantined:
        left_out = "is" if len(quarantined) == 1 else "are"
        texts.append(f"{unread_text(quarantined)} could not be read and {left_out} left out.")
    return tuple(texts)


def unread_text(quarantined: Sequence[Row]) -> str:
    """`3 lines`; `2 lines or files` where one has no line: it stands for a whole file."""
    if all(row["line"] is not None for row in quarantined):
        return figures.many(len(quarantined), "line")
    return figures.many(len(quarantined), "line or file", "lines or files")


def environment(runs: Sequence[Row], manifests: Sequence[Manifest]) -> tuple[tuple[str, str], ...]:
    """What the times depend on."""
    kernels = sorted({f"{run['kernel']['release']}, timer {run['kernel']['hz']} Hz" for run in runs})
    pinned = sorted({f"{value['name']} = {value['text']}" for run in runs for value in run["kernel"]["sysctls"] or []})
    entries = [
        ("Machine", "; ".join(sorted({one.machine for one in manifests}))),
        ("faultlab", "; ".join(sorted({one.faultlab for one in manifests}))),
        ("Commit", "; ".join(sorted({one.commit for one in manifests if one.commit}))),
        ("Command", "; ".join(sorted(commands(manifests)))),
        ("Seed", ", ".join(sorted({str(one.seed) for one in manifests}))),
        ("Clients", "; ".join(sorted({f"{run['client']} {run['client_version']} ({run['driver']})" for run in runs}))),
        ("Brokers", ", ".join(sorted({run["broker"] for run in runs}))),
        ("Kernel", "; ".join(kernels)),
        ("Pinned settings of the kernel", "; ".join(pinned)),
    ]
    return tuple((name, text) for name, text in entries if text)
