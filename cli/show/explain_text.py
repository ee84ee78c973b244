"""`faultlab explain` on the terminal: the sum, a picture, what the caller gets, and what changes it: one screen.

What settles whether the sum is right (when it holds, what has no effect, claims) comes with `--all`.
"""

import inspect
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby, islice

from rich.text import Text

from cli.show.explain_advice import budget_rows, changes_text, healing_rows
from cli.show.explain_rows import Rows, addresses_of, assumed_rows
from cli.show.formatting import pluralized
from cli.show.strip import letters_of, strip
from harness.explaining import Effect, ExplainedTerm, Explanation, Measurement, OtherRelease, Trial
from harness.explaining.conjuncts import VERSION, conjuncts, described
from harness.faults import FAULTS
from harness.language.formulas_file import FORMULAS_FILE
from harness.measures import parse as parse_measure

MAX_LEVERS = 3
MOST_MEANINGS = 8
"""More meanings of terms are only shown with everything else."""


def explanation_text(
    found: Explanation, measured: Sequence[Measurement], budget: str | None, *, width: int, everything: bool
) -> Iterator[Text]:
    """The whole answer; `measured` comes from earlier suites, `budget` is its text as it was asked for."""
    yield from _Answer(found, measured, budget, Rows(width), everything).lines()


class _Answer:
    def __init__(
        self, found: Explanation, measured: Sequence[Measurement], budget: str | None, rows: Rows, everything: bool
    ) -> None:
        self._found, self._measured, self._budget, self._rows = found, measured, budget, rows
        self._everything = everything

    def lines(self) -> Iterator[Text]:
        found = self._found
        yield from self._head()
        yield from self._sum()
        yield Text()
        if found.breakdown is not None and found.run.seconds is not None and (found.terms or not found.agrees):
            shown = found.breakdown
            if found.agrees:  # where the formula ends is where the call ends, give or take what no term accounts for
                shown = replace(shown, predicted_s=shown.measured_s)
            yield from strip(shown, key=not found.agrees, width=self._rows.width)
            yield Text()
        yield from self._answers()
        yield from self._rest() if self._everything else self._more()

    def _head(self) -> Iterator[Text]:
        case, plan = self._found.configured_case.case, self._found.configured_case.plan
        client = f"{plan.client.name} {plan.client.version}, {', '.join(case.faults)}"
        yield Text(client, style="bold").append(f"  {addresses_of(plan)}", style="default")
        for fault in case.faults if self._everything else ():
            summary = inspect.cleandoc(FAULTS[fault].__doc__ or "").partition("\n")[0]
            yield self._rows.paragraph(summary, lead=f"{fault}: ", style="dim")
        yield self._rows.paragraph(self._found.prediction.cited.formula.about)
        yield from assumed_rows(self._found.assumed, self._rows)
        yield Text()
        yield Text(sentence(self._found))

    def _sum(self) -> Iterator[Text]:
        """`8.850 s = 2 x Net.ReadTimeout  2s  4.000  r`, and below each term what the client does in it."""
        found = self._found
        letters = letters_of(found.breakdown.segments) if found.breakdown is not None else {}
        lead = f"{found.prediction.seconds:.3f} s = "
        if not found.terms:
            yield Text(f"{found.prediction.seconds:.3f} s: nothing is waited for", style="bold")
        names = max((len(term.name) for term in found.terms), default=0)
        texts = max((len(term.text) for term in found.terms), default=0)
        counts = max((len(f"{term.count:g}") for term in found.terms), default=0)
        told = self._everything or sum(len(term.shares) for term in found.terms) <= MOST_MEANINGS
        for number, term in enumerate(found.terms):
            sign = lead if number == 0 else f"{'+ ':>{len(lead)}}"
            origin = "" if term.origin == "given" else term.origin
            letter = letters.get(term.name, "") if term.is_setting else ""
            yield Text(sign, style="bold").append(
                f"{term.count:>{counts}g} x {term.name:<{names}}  {term.text:<{texts}}  {origin:<8}"
                f"  {term.total_s:>8.3f}  {letter}".rstrip(),
                style="default",
            )
            if told:
                yield from self._shares(term, " " * (len(lead) + counts + 3))

    def _shares(self, term: ExplainedTerm, lead: str) -> Iterator[Text]:
        for one in term.shares:
            if one.count:
                times = "" if len(term.shares) == 1 else f"{one.count:g} x "
                yield self._rows.paragraph(f"{times}{one.meaning}", lead=lead, style="dim")

    def _answers(self) -> Iterator[Text]:
        """What most people come for."""
        found, rows = self._found, self._rows
        if found.prediction.cited.measure.endswith(".time_to_error"):
            yield from rows.row("you get", found.run.error or found.prediction.cited.formula.error or "an error")
        yield from self._tried()
        if found.agrees:
            if found.healing is not None:
                yield from healing_rows(found.healing, rows)
            for other in found.others:
                yield from rows.row(other.version, self._other(other))
            if self._budget is None:
                yield from self._levers()
            elif found.budget is not None:
                yield from budget_rows(found.budget, self._budget, found.prediction.seconds, rows)
        better = found.inapplicable
        if better is not None:
            yield from rows.row("not here", f"{better.case.name}: it is not so that {' and '.join(better.reasons)}")

    def _more(self) -> Iterator[Text]:
        yield from self._rows.row(
            "more", "--all: when this holds, settings without effect, claims, sources", style="dim"
        )

    def _rest(self) -> Iterator[Text]:
        """What settles whether it is right."""
        found, rows, formula = self._found, self._rows, self._found.prediction.cited.formula
        yield from rows.row("holds when", self._condition())
        if found.agrees:
            yield from self._effects()
            for claimed in found.claims:
                verdict = "true here" if claimed.holds else "refuted"
                said = f"{claimed.expectation.formula} = {claimed.predicted_s:.3f} s: {verdict}"
                yield from rows.row("a claim", f"{said} ({claimed.expectation.source})")
        if found.related:
            listed = (f"{related.case.name} {related.prediction.seconds:.3f} s" for related in found.related)
            yield from rows.row("see also", ", ".join(listed))
        where = f"{found.configured_case.case.path.parent.name}/{FORMULAS_FILE}"
        yield from rows.row("source", f"{formula.source} ({formula.name} in {where})")
        yield from rows.row("run it", f"faultlab run {found.configured_case.case.scenario}")

    def _condition(self) -> str:
        """The formula's condition with the values that decide it; the release is in the headline already."""
        found = self._found
        listed = [part for part in conjuncts(found.prediction.expectation.when) if VERSION not in part]
        text = found.prediction.cited.formula.text
        return (
            " and ".join(described(part, found.configured_case, text) for part in listed) or "always, for this release"
        )

    def _tried(self) -> Iterator[Text]:
        found, run, rows = self._found, self._found.run, self._rows
        if run.seconds is None:
            yield from rows.row("simulated", f"not so: {run.why}", style="bold red")
        elif not found.agrees:
            yield from rows.row("simulated", f"{run.seconds:.3f} s: not what the formula says", style="bold red")
        else:
            yield from rows.row("simulated", f"{run.seconds:.3f} s")
        if not found.agrees:
            yield from rows.row("", "the formula does not hold with these settings, so nothing more is said with it")
            if found.would_hold_with:
                listed = " or ".join(map(changes_text, found.would_hold_with))
                yield from rows.row("", f"it would hold with {listed} (simulated)")
            own = found.configured_case.case.settings
            if own:
                yield from rows.row("", f"its scenario tries it with {', '.join(f'{k} {v}' for k, v in own.items())}")
        label = "measured"
        for one in self._measured:
            by = "real library" if one.driver == "real" else one.environment
            least = "≥ " if one.censored else ""
            yield from rows.row(label, f"{least}{one.median_s:.3f} s, {by}, {_median(one.runs)} ({one.folder})")
            label = ""

    def _effects(self) -> Iterator[Text]:
        found, rows = self._found, self._rows
        turning = [(effect, trial) for effect in found.effects for trial in effect.turning_points]
        none = [effect for effect in found.effects if effect.none]
        if none:
            tried = sum(len(effect.trials) for effect in none)
            runs = pluralized(tried, "simulated run")
            how = f"(each halved and doubled, or switched on: the formula and {runs} say the same)"
            yield from rows.row("no effect", f"{', '.join(self._without_effect(effect) for effect in none)} {how}")
        if turning:
            listed = (f"{effect.setting} {trial.texts[0]}: {_outcome(trial)}" for effect, trial in turning)
            yield from rows.row("otherwise", "; ".join(listed))
        beyond_formula = [effect for effect in found.effects if effect.beyond_formula]
        if beyond_formula:
            listed = (
                f"{effect.setting} {', '.join(f'{one.texts[0]}: {_outcome(one)}' for one in effect.beyond_formula)}"
                for effect in beyond_formula
            )
            yield from rows.row("beyond it", f"{'; '.join(listed)} (simulated; the formula does not say so)")

    def _without_effect(self, effect: Effect) -> str:
        """`Producer.Retry.Max above 0`: as far as the same formula holds."""
        value = self._found.configured_case.settings[effect.setting].value or 0.0
        bounds = [
            f"{'above' if trial.changes[0][1] < value else 'below'} {trial.texts[0]}" for trial in effect.turning_points
        ]
        return " ".join([effect.setting, " and ".join(bounds)]).strip()

    def _other(self, other: OtherRelease) -> str:
        if other.why_not is not None:
            return other.why_not
        assert other.run is not None
        if other.run.seconds is None:
            return other.run.why or "nothing was measured"
        if other.prediction is None:
            return f"{other.run.seconds:.3f} s simulated; no formula covers it yet"
        found = self._found
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

    def _levers(self) -> Iterator[Text]:
        if not self._found.reductions:
            return
        together = groupby(self._found.reductions, key=lambda trial: round(trial.predicted_s or 0.0, 3))
        label = "set"
        for seconds, group in islice(together, MAX_LEVERS):
            yield self._rows.figure(label, " or ".join(changes_text(trial) for trial in group), f"{seconds:.3f} s")
            label = ""
        yield from self._rows.row("", "(halved, each alone; --budget 3s proposes values, and says what they cost)")


def sentence(found: Explanation) -> str:
    """`The send fails after:`."""
    name = parse_measure(found.prediction.cited.measure)
    operation = found.configured_case.plan.operation_name(name.alias) or name.alias
    ends = {"time_to_error": "fails", "time_to_ack": "is acknowledged"}.get(name.measure, "ends")
    return f"The {operation} {ends} after:"


def _median(runs: int) -> str:
    return "1 run" if runs == 1 else f"median of {runs} runs"


def _outcome(trial: Trial) -> str:
    return trial.run.why or "nothing" if trial.run.seconds is None else f"{trial.run.seconds:.3f} s"
