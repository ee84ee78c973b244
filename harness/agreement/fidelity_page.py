"""A matrix of agreement as a Markdown page: what was compared, how, and the result of every case."""

from collections import Counter
from collections.abc import Iterator, Sequence

from harness.records.agreement import Agreement, AgreementRecord, SideComparison, SideResult
from harness.records.case_key import case_key
from harness.records.short_names import parameters_text

WORDS: dict[Agreement, str] = {
    "agrees": "agrees", "explained": "explained", "unsure": "not enough runs", "differs": "DIFFERS"
}  # fmt: skip
ORDER: dict[Agreement, int] = {"differs": 0, "unsure": 1, "explained": 2, "agrees": 3}
HEAD = """\
# Fidelity: the profiles beside the real clients

Made by `{command}` on {made} ({machine}): {cases}, {rows}: {told}.

A case is a fault with one version, one set of settings and one shape of cluster. *real* is the library itself on
real sockets, *profile* the bundled client on the same sockets, *sim* the profile on virtual time; real is the
reference. Each side ran a case {often}.

A row **agrees** where every shift between two sides that their runs do not exclude (exact rank interval, 5 % a side)
lies within 50 ms + 2 % of the real one's median, or for a number of dials within 0.5 + 2 %; where an order is drawn by
chance, each way is compared by itself, and the parts of the runs that went each way may differ by 30 points. It
**differs** only at a level that all rows share: a matrix in which everything agrees says so once in more than 1,000
times. What lies between is *not enough runs*, which is no agreement. Where it differs as a `differences.yaml` beside
its scenario says, it is *explained*, and counted apart. Times are medians in seconds; behind them, how far they lie
from the real one's.
"""


def fidelity_page(records: Sequence[AgreementRecord], *, command: str, machine: str, made: str) -> str:
    """The page. `command` makes it anew; `machine` and the day it was `made` say what its figures come from."""
    return "\n".join([*_head(records, command, machine, made), *_rows(records), *_others(records), ""])


def case_text(record: AgreementRecord) -> str:
    return parameters_text([(p.name, p.text) for p in record.parameters])


def _head(records: Sequence[AgreementRecord], command: str, machine: str, made: str) -> Iterator[str]:
    cases = {case_key(record) for record in records}
    counted = Counter(record.outcome for record in records)
    told = ", ".join(f"{counted[outcome]} {WORDS[outcome]}" for outcome in ORDER if counted[outcome])
    runs = sorted({side.runs for record in records for side in record.sides})
    often = _many(runs[0], "time") if len(runs) == 1 else f"{runs[0]} to {runs[-1]} times"
    yield HEAD.format(
        command=command, machine=machine, made=made, cases=_many(len(cases), "case"), rows=_many(len(records), "row"),
        told=told, often=often,
    )  # fmt: skip


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _rows(records: Sequence[AgreementRecord]) -> Iterator[str]:
    timed = [record for record in records if record.unit == "s"]
    yield "## Times"
    yield ""
    yield "| scenario | version | case | measure | predicted | real | profile | sim | |"
    yield "| --- | --- | --- | --- | ---: | ---: | ---: | ---: | --- |"
    for record in sorted(timed, key=lambda record: ORDER[record.outcome]):
        sides = {side.side: side for side in record.sides}
        compared = {one.side: one for one in record.compared}
        predicted = "" if record.predicted is None else f"{record.predicted:.3f}"
        columns = [_time(sides.get(side), compared.get(side)) for side in ("real", "profile", "sim")]
        yield (
            f"| {record.scenario} | {record.client_version} | {case_text(record)} | {record.measure} "
            f"| {predicted} | {' | '.join(columns)} | {_verdict(record)} |"
        )
    yield ""


def _others(records: Sequence[AgreementRecord]) -> Iterator[str]:
    """Counts and outcomes: rows that agree are counted, the others are listed."""
    for unit, title in (("outcome", "Outcomes and errors"), ("count", "Dials, duplicates, zombies")):
        rows = [record for record in records if record.unit == unit]
        apart = [record for record in rows if record.outcome != "agrees"]
        yield f"## {title}"
        yield ""
        yield f"{len(rows) - len(apart)} of {len(rows)} rows agree."
        yield ""
        if apart:
            yield "| scenario | version | case | measure | real | profile | sim | |"
            yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
        for record in sorted(apart, key=lambda record: ORDER[record.outcome]):
            sides = {side.side: side for side in record.sides}
            columns = [_shown(sides.get(side)) for side in ("real", "profile", "sim")]
            yield (
                f"| {record.scenario} | {record.client_version} | {case_text(record)} | {record.measure} "
                f"| {' | '.join(columns)} | {_verdict(record)} |"
            )
        if apart:
            yield ""


def _time(side: SideResult | None, compared: SideComparison | None) -> str:
    if side is None:
        return "not run"
    if side.median is None:
        return f"did not end ({side.censored})" if side.censored else "nothing"
    off = "" if compared is None or compared.difference is None else f" ({compared.difference:+.3f})"
    return f"{side.median:.3f}{off}"


def _shown(side: SideResult | None) -> str:
    if side is None:
        return "not run"
    if side.outcomes:
        return ", ".join(f"{word} {count}" for word, count in side.outcomes)
    values = Counter(side.values)
    told = ", ".join(f"{value:g} ({count})" for value, count in sorted(values.items()))
    return told or side.silent or "nothing"


def _verdict(record: AgreementRecord) -> str:
    """The verdict, and why it is not agreement."""
    word = WORDS[record.outcome]
    worst = next(one for one in record.compared if one.outcome == record.outcome)
    if record.outcome == "agrees":
        return word if worst.ways == 1 else f"{word}, {worst.ways} ways"
    told = f"{word}: {worst.side}: {worst.reason}" if worst.reason else f"{word}: {worst.side}"
    return f"{told} ({worst.source})" if worst.source else told
