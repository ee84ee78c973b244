"""`faultlab explain` on the terminal: the sum, what the client does in each part of it, and what changes it."""

import inspect
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby, islice

from rich.text import Text

from cli.show.formatting import pluralized
from cli.show.rows import right_aligned, wrapped
from cli.show.strip import letters_of, strip
from harness.explaining import Effect, ExplainedTerm, Explanation, Measurement, OtherRelease, Trial
from harness.explaining.conjuncts import VERSION, conjuncts, described
from harness.faults import FAULTS
from harness.language.formulas_file import FORMULAS_FILE
from harness.measures import parse as parse_measure

LABEL = 12
"""Columns of the words on the left."""
MAX_LEVERS = 3


def explanation_text(found: Explanation, measured: Sequence[Measurement], budget: str | None) -> Iterator[Text]:
    """The whole answer; `measured` comes from earlier suites, `budget` is its text as it was asked for."""
    yield from _head(found)
    yield from _sum(found)
    yield Text()
    if found.breakdown is not None and found.run.seconds is not None and (found.terms or not found.agrees):
        shown = found.breakdown
        if found.agrees:  # where the formula ends is where the call ends, give or take what no term accounts for
            shown = replace(shown, predicted_s=shown.measured_s)
        yield from strip(shown, key=not found.agrees)
        yield Text()
    yield from _rows(found, measured, budget)


def _head(found: Explanation) -> Iterator[Text]:
    configured_case = found.configured_case
    plan = configured_case.plan
    addresses = len(plan.client.bootstrap)
    described = (
        f"  {pluralized(plan.cluster.brokers, 'broker')}, {addresses} bootstrap address{'es' if addresses > 1 else ''}"
    )
    faults = ", ".join(configured_case.case.faults)
    yield Text(f"{plan.client.name} {plan.client.version}, {faults}", style="bold").append(described, style="default")
    for fault in configured_case.case.faults:
        summary = inspect.cleandoc(FAULTS[fault].__doc__ or "").partition("\n")[0]
        yield wrapped(summary, lead=f"{fault}: ", style="dim")
    yield wrapped(found.prediction.cited.formula.about, lead="")
    yield Text()
    yield Text(_sentence(found))


def _sentence(found: Explanation) -> str:
    name = parse_measure(found.prediction.cited.measure)
    operation = found.configured_case.plan.operation_name(name.alias) or name.alias
    ends = {"time_to_error": "fails", "time_to_ack": "is acknowledged"}.get(name.measure, "ends")
    return f"The {operation} {ends} after:"


def _sum(found: Explanation) -> Iterator[Text]:
    """`8.850 s = 2 x Net.ReadTimeout  2s  4.000  r`, and below each term what the client does in it."""
    letters = letters_of(found.breakdown.segments) if found.breakdown is not None else {}
    lead = f"{found.prediction.seconds:.3f} s = "
    if not found.terms:
        yield Text(f"{found.prediction.seconds:.3f} s: nothing is waited for", style="bold")
    names = max((len(term.name) for term in found.terms), default=0)
    texts = max((len(term.text) for term in found.terms), default=0)
    counts = max((len(f"{term.count:g}") for term in found.terms), default=0)
    for number, term in enumerate(found.terms):
        sign = lead if number == 0 else f"{'+ ':>{len(lead)}}"
        origin = "" if term.origin == "given" else term.origin
        letter = letters.get(term.name, "") if term.is_setting else ""
        yield Text(sign, style="bold").append(
            f"{term.count:>{counts}g} x {term.name:<{names}}  {term.text:<{texts}}  {origin:<8}"
            f"  {term.total_s:>8.3f}  {letter}".rstrip(),
            style="default",
        )
        yield from _shares(term, " " * (len(lead) + counts + 3))


def _shares(term: ExplainedTerm, lead: str) -> Iterator[Text]:
    for share in term.shares:
        if share.count:
            times = "" if len(term.shares) == 1 else f"{share.count:g} x "
            yield wrapped(f"{times}{share.meaning}", lead=lead, style="dim")


def _rows(found: Explanation, measured: Sequence[Measurement], budget: str | None) -> Iterator[Text]:
    formula = found.prediction.cited.formula
    yield from _row("holds when", _condition(found))
    error = found.run.error or formula.error
    if found.prediction.cited.measure.endswith(".time_to_error"):
        yield from _row("you get", error or "an error")
    yield from _measured(found, measured)
    if found.agrees:
        yield from _effects(found)
        for other in found.others:
            yield from _row(other.version, _other(found, other))
        yield from _levers(found)
        if budget is not None:
            yield from _budget(found, budget)
        for claimed in found.claims:
            verdict = "true here" if claimed.holds else "refuted"
            said = f"{claimed.expectation.formula} = {claimed.predicted_s:.3f} s: {verdict}"
            yield from _row("a claim", f"{said} ({claimed.expectation.source})")
    better = found.inapplicable
    if better is not None:
        yield from _row("not here", f"{better.case.name}: it is not so that {' and '.join(better.reasons)}")
    if found.related:
        listed = (f"{related.case.name} {related.prediction.seconds:.3f} s" for related in found.related)
        yield from _row("see also", ", ".join(listed))
    where = f"{found.configured_case.case.path.parent.name}/{FORMULAS_FILE}"
    yield from _row("source", f"{formula.source} ({formula.name} in {where})")
    yield from _row("run it", f"faultlab run {found.configured_case.case.scenario}")


def _row(label: str, text: str, *, style: str = "") -> Iterator[Text]:
    """`label` on the left, `text` folded beside it. An empty label continues the row above."""
    yield wrapped(text, lead=f"{label:<{LABEL}}" if len(label) < LABEL else f"{label} ", style=style)


def _condition(found: Explanation) -> str:
    """The formula's condition with the values that decide it; the release is in the headline already."""
    listed = [part for part in conjuncts(found.prediction.expectation.when) if VERSION not in part]
    return (
        " and ".join(described(part, found.configured_case, found.prediction.cited.formula.text) for part in listed)
        or "always, for this release"
    )


def _measured(found: Explanation, measured: Sequence[Measurement]) -> Iterator[Text]:
    run = found.run
    if run.seconds is None:
        yield from _row("simulated", f"not so: {run.why}", style="bold red")
    elif not found.agrees:
        yield from _row("simulated", f"{run.seconds:.3f} s: not what the formula says", style="bold red")
    else:
        yield from _row("simulated", f"{run.seconds:.3f} s")
    if not found.agrees:
        yield from _row("", "the formula does not hold with these settings, so nothing more is said with it")
        if found.would_hold_with:
            yield from _row("", f"it would hold with {' or '.join(map(_changes, found.would_hold_with))} (simulated)")
        own = found.configured_case.case.settings
        if own:
            yield from _row("", f"its scenario tries it with {', '.join(f'{k} {v}' for k, v in own.items())}")
    label = "measured"
    for one in measured:
        by = "real library" if one.driver == "real" else one.environment
        least = "≥ " if one.censored else ""
        yield from _row(label, f"{least}{one.median_s:.3f} s, {by}, {_median(one.runs)} ({one.folder})")
        label = ""


def _median(runs: int) -> str:
    return "1 run" if runs == 1 else f"median of {runs} runs"


def _effects(found: Explanation) -> Iterator[Text]:
    turning = [(effect, trial) for effect in found.effects for trial in effect.turning_points]
    none = [effect for effect in found.effects if effect.none]
    if none:
        tried = sum(len(effect.trials) for effect in none)
        runs = pluralized(tried, "simulated run")
        how = f"(each halved and doubled, or switched on: the formula and {runs} say the same)"
        yield from _row("no effect", f"{', '.join(_without_effect(effect, found) for effect in none)} {how}")
    if turning:
        listed = (f"{effect.setting} {trial.texts[0]}: {_outcome(trial)}" for effect, trial in turning)
        yield from _row("otherwise", "; ".join(listed))
    beyond_formula = [effect for effect in found.effects if effect.beyond_formula]
    if beyond_formula:
        listed = (
            f"{effect.setting} {', '.join(f'{trial.texts[0]}: {_outcome(trial)}' for trial in effect.beyond_formula)}"
            for effect in beyond_formula
        )
        yield from _row("beyond it", f"{'; '.join(listed)} (simulated; the formula does not say so)")


def _without_effect(effect: Effect, found: Explanation) -> str:
    """`Producer.Retry.Max above 0`: as far as the same formula holds."""
    value = found.configured_case.settings[effect.setting].value or 0.0
    bounds = [
        f"{'above' if trial.changes[0][1] < value else 'below'} {trial.texts[0]}" for trial in effect.turning_points
    ]
    return " ".join([effect.setting, " and ".join(bounds)]).strip()


def _outcome(trial: Trial) -> str:
    return trial.run.why or "nothing" if trial.run.seconds is None else f"{trial.run.seconds:.3f} s"


def _other(found: Explanation, other: OtherRelease) -> str:
    if other.why_not is not None:
        return other.why_not
    assert other.run is not None
    if other.run.seconds is None:
        return other.run.why or "nothing was measured"
    if other.prediction is None:
        return f"{other.run.seconds:.3f} s simulated; no formula covers it yet"
    difference = other.prediction.seconds - found.prediction.seconds
    if not other.changes:
        described = f"{other.prediction.seconds:.3f} s: the same"
    else:
        listed = ", ".join(f"{change.count:+g} x {change.name}" for change in other.changes)
        described = f"{other.prediction.seconds:.3f} s ({difference:+.3f}): {listed}"
    agrees = abs(other.run.seconds - other.prediction.seconds) <= other.prediction.tolerance_s
    described += "" if agrees else f"; but simulated {other.run.seconds:.3f} s"
    same = other.run.error == found.run.error
    return described if same or other.run.error is None else f"{described}. You get: {other.run.error}"


def _levers(found: Explanation) -> Iterator[Text]:
    if not found.reductions:
        return
    yield from _row("lever", "halved, each alone:")
    together = groupby(found.reductions, key=lambda trial: round(trial.predicted_s or 0.0, 3))
    for seconds, group in islice(together, MAX_LEVERS):
        yield _figure("", " or ".join(_changes(trial) for trial in group), f"{seconds:.3f} s")


def _budget(found: Explanation, text: str) -> Iterator[Text]:
    budget = found.budget
    assert budget is not None
    label = f"budget {text}"
    if budget.met:
        yield from _row(label, f"met as it is: {found.prediction.seconds:.3f} s")
        return
    if not budget.solutions:
        yield from _row(label, "no settings were found that keep within it", style="bold red")
    for trial in budget.solutions:
        yield _figure(label, _changes(trial), _outcome(trial))
        label = "or"
    if budget.solutions:
        yield from _row("", "(each tried in a simulated run)")
    for trial in budget.failed:
        text = f"{_changes(trial)}: {trial.predicted_s or 0.0:.3f} s by the formula, simulated {_outcome(trial)}"
        yield from _row("but not", text)


def _figure(label: str, text: str, figure: str) -> Text:
    """A row whose figure stands at the right edge, behind the last line of its text."""
    lead = f"{label:<{LABEL}}" if len(label) < LABEL else f"{label} "
    above, newline, last = wrapped(text, lead=lead).plain.rpartition("\n")
    return Text(above + newline + right_aligned(last, figure, lead=0))


def _changes(trial: Trial) -> str:
    return ", ".join(f"{name} {text}" for (name, _), text in zip(trial.changes, trial.texts, strict=True))
