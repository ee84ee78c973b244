"""The suite in a few sentences: its result, what was found, when and on what machine."""

from collections import Counter
from collections.abc import Iterable, Sequence

from harness.records.manifest import Manifest
from reports import figures
from reports.pages.cases import Case, Row
from reports.pages.claims import Claim
from reports.pages.times import TimeRow
from reports.pages.verdicts import GRAVEST_FIRST, WORDS


def headline(cases: Iterable[Case]) -> str:
    """The result in one sentence."""
    told = Counter(case.verdict for case in cases)
    total = sum(told.values())
    if told["pass"] == total:
        return "The one case held." if total == 1 else f"All {total} cases held."
    failed = told["fail"]
    first = f"{failed} of {total} cases failed" if failed else f"{told['pass']} of {total} cases held"
    rest = [
        f"{told[verdict]} {words}"
        for verdict, words in (
            ("lab_error", "met an error of the lab"),
            ("inconclusive", "tested nothing"),
            ("skipped", "skipped"),
        )
        if told[verdict]
    ]
    return "; ".join([first, *rest]) + "."


def lead(rows: Sequence[TimeRow], claims: Sequence[Claim]) -> str:
    """What was found, beyond verdicts: how long clients hung, and what became of the claims."""
    times = [row.row for row in rows if row.what == "time to error" and row.row["median"] is not None]
    sentences = []
    if times:
        shortest, longest = (pick(times, key=lambda row: row["median"]) for pick in (min, max))
        low, high = figures.measured(shortest), figures.measured(longest).replace("\u2265", "at least")
        span = low if low == high else f"between {low} and {high}"
        sentences.append(f"From the call until its error, a client waited {span}.")
    for verdict in ("refuted", "held", "mixed", "inconclusive"):
        own = [claim for claim in claims if claim.verdict == verdict]
        if own:
            words = {"mixed": "holds in some runs only", "inconclusive": "could not be judged"}.get(verdict, verdict)
            against = sum(claim.as_declared is False for claim in own)
            told = "against what was declared" if against else "as declared" if all(c.as_declared for c in own) else ""
            sentences.append(f"{figures.many(len(own), 'claim')} {words}{', ' + told if told else ''}.")
    return " ".join(sentences)


def facts(runs: Sequence[Row], manifests: Sequence[Manifest]) -> str:
    scenarios = len({run["scenario"] for run in runs})
    environments = " and ".join(sorted({run["environment"] for run in runs}))
    began = min((run["started_at"] for run in runs), default="")
    parts = [
        figures.many(len(runs), "run"),
        f"{figures.many(scenarios, 'scenario')} on {environments}",
        figures.day(manifests[0].started_at if manifests else began),
    ]
    return " \u00b7 ".join(part for part in parts if part)


def counts(cases: Iterable[Case]) -> tuple[tuple[str, str, int], ...]:
    told = Counter(case.verdict for case in cases)
    return tuple((verdict, WORDS[verdict], told[verdict]) for verdict in GRAVEST_FIRST if told[verdict])


def environment(runs: Sequence[Row], manifests: Sequence[Manifest]) -> tuple[tuple[str, str], ...]:
    """What the times depend on, and how quiet the machine was."""
    lags = [run["noise"]["loop_lag_p99_s"] for run in runs]
    kernels = sorted({f"{run['kernel']['release']}, timer {run['kernel']['hz']} Hz" for run in runs})
    pinned = sorted({f"{value['name']} = {value['text']}" for run in runs for value in run["kernel"]["sysctls"] or []})
    again = sum(run["attempt"] > 1 for run in runs)
    told = [
        ("Machine", "; ".join(sorted({one.machine for one in manifests}))),
        ("faultlab", "; ".join(sorted({one.faultlab for one in manifests}))),
        ("Seed", ", ".join(sorted({str(run["seed"]) for run in runs}))),
        ("Kernel", "; ".join(kernels)),
        ("Pinned settings of the kernel", "; ".join(pinned)),
        ("Noise", f"timers came at most {1e3 * max(lags):.1f} ms late in 99 of 100 cases (worst run)" if lags else ""),
        ("Tried again after noise", figures.many(again, "run") if again else "no run"),
    ]
    return tuple((name, text) for name, text in told if text)
