"""`faultlab explain` where chance decides: each outcome with its chance, by formula and over simulated seeds, its waits
on one axis, and what follows: how often a call fails, for how long, and when one gets through.
"""

from collections.abc import Iterator, Mapping, Sequence

from rich.text import Text

from cli.show.explain_advice import cannot_be_met, healthy_row
from cli.show.explain_rows import Rows, addresses_of, assumed_rows, share
from cli.show.formatting import pluralized
from cli.show.strip import letters_of
from harness.explaining import BOOTSTRAP, ChanceBudget, ChanceExplanation, DrawnCase, PredictedOutcome
from harness.judging import BreakdownSegment
from harness.language.formulas_file import FORMULAS_FILE
from harness.measures import parse as parse_measure

BAR = 20
"""Columns of the bar of an outcome that is certain."""
FULL, HALF = "\N{FULL BLOCK}", "\N{LEFT HALF BLOCK}"
QUANTILES = (0.5, 0.9, 0.99)
MOST_OUTCOMES = 12
"""More outcomes are only shown with everything else."""


def chance_text(found: ChanceExplanation, budget: str | None, *, width: int, everything: bool) -> Iterator[Text]:
    """The whole answer; `budget` is its text as it was asked for."""
    yield from _Answer(found, budget, Rows(width), everything).lines()


class _Answer:
    def __init__(self, found: ChanceExplanation, budget: str | None, rows: Rows, everything: bool) -> None:
        self._found, self._budget, self._rows, self._everything = found, budget, rows, everything
        self._drawn = found.drawn
        self._plan = found.drawn.configured_case.plan

    def lines(self) -> Iterator[Text]:
        yield from self._head()
        yield from self._outcomes()
        yield Text()
        yield from self._figures()
        if self._found.agrees:
            yield from self._others()
            if self._budget is None:
                yield from self._levers()
            elif self._found.budget is not None:
                yield from self._budget_rows(self._found.budget)
        yield from self._end()

    def _head(self) -> Iterator[Text]:
        client, distribution = self._plan.client, self._found.distribution
        faults = self._drawn.configured_case.case.faults or (BOOTSTRAP,)
        head = Text(f"{client.name} {client.version}, {', '.join(faults)}", style="bold")
        yield head.append(f"  {addresses_of(self._plan)}", style="default")
        yield self._rows.paragraph(distribution.about)
        yield from assumed_rows(self._found.assumed, self._rows)
        yield Text()
        alias = parse_measure(distribution.measure).alias
        operation = self._plan.operation_name(alias) or alias
        yield self._rows.paragraph(f"By chance ({distribution.draw.meaning}) the {operation}")

    def _outcomes(self) -> Iterator[Text]:
        """A row for each: how it ends, its sum, its chance as a number and as a bar, and how often it was seen."""
        outcomes = self._drawn.predicted.outcomes
        shown = outcomes if self._everything else outcomes[:MOST_OUTCOMES]
        runs = len(self._drawn.sample.runs)
        endings = [_ending(one) for one in shown]
        wide = max(map(len, endings))
        head = f"  {'':<{wide}}  {'after':>10}  {'formula':>8}  {'simulated':>9}"
        yield Text(head, style="dim")
        for one, ending, count in zip(shown, endings, self._drawn.sample.counts, strict=False):
            style = "red" if one.ends == "failed" else "default"
            line = Text("  ").append(f"{ending:<{wide}}", style=style)
            figures = f"  {one.seconds:>8.3f} s  {share(one.chance):>8}  {share(count / runs):>9}  "
            yield line.append(figures, style="default").append(_bar(one.chance), style=style)
        if len(outcomes) > len(shown):
            yield Text(f"  and {len(outcomes) - len(shown)} more (--all)", style="dim")
        yield Text()
        yield from self._picture(shown)

    def _picture(self, shown: Sequence[PredictedOutcome]) -> Iterator[Text]:
        """The waits of each outcome laid end to end, on one axis."""
        waits = [tuple(_segments(one)) for one in shown]
        letters = letters_of(tuple(segment for one in waits for segment in one))
        longest_s = max((one.seconds for one in shown), default=0.0)
        if longest_s <= 0:
            return
        columns = self._rows.width - 14
        for one, segments in zip(shown, waits, strict=True):
            line = ""
            for segment in segments:
                line += letters[segment.setting] * (round(segment.ended_s / longest_s * columns) - len(line))
            yield Text(f"  {share(one.chance):>8}  {line or '|'}".rstrip())
        yield Text(f"  {'':>8}  0{f'{longest_s:.3f} s':>{columns - 1}}")
        yield from self._key(shown, letters)

    def _key(self, shown: Sequence[PredictedOutcome], letters: Mapping[str | None, str]) -> Iterator[Text]:
        """What each letter stands for: the setting, its value, and what is waited for."""
        meanings: dict[str, str] = {}
        for one in shown:
            for term in one.evaluated.terms:
                if term.setting and term.total:
                    meanings.setdefault(term.setting, "")
            for meant in one.formula.terms:
                for name in meanings:
                    if name in meant.text and not meanings[name]:
                        meanings[name] = meant.meaning
        settings = self._drawn.configured_case.settings
        for name, meaning in meanings.items():
            text = f"{letters.get(name, '?')}  {name} {settings[name].text}: {meaning}"
            yield self._rows.paragraph(text, lead="  ", style="dim")

    def _figures(self) -> Iterator[Text]:
        rows, predicted, sample = self._rows, self._drawn.predicted, self._drawn.sample
        runs = len(sample.runs)
        if not self._found.agrees:
            yield from self._disagreement()
            return
        yield from rows.row(
            "P(fail)", f"{share(predicted.failing)} by formula, {share(len(sample.failed) / runs)} of {runs} seeds"
        )
        if predicted.failing or predicted.lasting:
            seen = ""
            if sample.stuck or sample.recoveries_s:
                looked = sample.stuck + len(sample.recoveries_s)
                seen = f"; {sample.stuck} of {looked} failed seeds still failed {sample.patience_s:.0f} s later"
            yield from rows.row("P(stuck)", f"{share(predicted.lasting)} by formula{seen}")
        quantiles = ", ".join(f"{100 * q:g} % within {predicted.quantile_s(q):.3f} s" for q in QUANTILES)
        mean = f"{predicted.mean_s:.3f} s on average (simulated {sample.mean_s:.3f} s)"
        yield from rows.row("ends after", f"{mean}; {quantiles}")
        yield from rows.row("E[recovery]", self._recovery())
        error = next((run.error for run in sample.failed if run.error), None)
        if error is not None:
            yield from rows.row("you get", error)

    def _recovery(self) -> str:
        """When a call gets through, for a caller who calls again as soon as one fails."""
        predicted, sample = self._drawn.predicted, self._drawn.sample
        if predicted.recovery_s is None:
            return "never: no call gets through"
        simulated = "" if sample.recovery_s is None else f" (simulated {sample.recovery_s:.3f} s)"
        told = f"{predicted.recovery_s:.3f} s{simulated} until a call gets through, where one fails calling again"
        return f"{told}; never with P(stuck)" if predicted.lasting else told

    def _disagreement(self) -> Iterator[Text]:
        sample = self._drawn.sample
        runs = len(sample.runs)
        said = "what the formula says and what the seeds did differ, so nothing more is said with it"
        yield from self._rows.row("simulated", f"not so: {said}", style="bold red")
        for run in sample.unexplained[:1]:
            what = run.why or f"{'failed' if run.ends == 'failed' else 'ok'} after {run.seconds:.3f} s"
            yield from self._rows.row(
                "", f"{len(sample.unexplained)} of {runs} ended otherwise, as seed {run.seed}: {what}"
            )

    def _others(self) -> Iterator[Text]:
        together: dict[str, list[str]] = {}
        for other in self._found.others:
            together.setdefault(self._compared(other), []).append(other.configured_case.plan.client.version)
        for text, versions in together.items():
            yield from self._rows.row(", ".join(versions), text)

    def _compared(self, other: DrawnCase) -> str:
        predicted = other.predicted
        told = f"fails {share(predicted.failing)}"
        told += f", stuck {share(predicted.lasting)}" if predicted.failing else ""
        told += f", 99 % within {predicted.quantile_s(0.99):.3f} s"
        if predicted.recovery_s is not None:
            told += f", gets through after {predicted.recovery_s:.3f} s on average"
        if other.agrees:
            return told
        return f"{told}; but {len(other.sample.runs)} simulated seeds say otherwise"

    def _levers(self) -> Iterator[Text]:
        label = "set"
        for lever in self._found.levers:
            yield from self._rows.row(label, f"{_changes(lever)}: {self._compared(lever)}")
            label = ""
        if self._found.levers:
            runs = len(self._found.levers[0].sample.runs)
            yield from self._rows.row(
                "", f"(halved or doubled, each alone, tried with {runs} seeds; --budget 3s proposes values)"
            )

    def _budget_rows(self, budget: ChanceBudget) -> Iterator[Text]:
        rows, before = self._rows, self._drawn
        label = f"budget {self._budget}"
        of = f"{100 * budget.quantile:g} % of the calls"
        if budget.met:
            yield from rows.row(
                label, f"met as it is: {of} end within {before.predicted.quantile_s(budget.quantile):.3f} s"
            )
            return
        if not budget.options:
            yield from cannot_be_met(label, budget.shortest_s, rows)
        for option in budget.options:
            yield rows.figure(label, _changes(option), f"{option.predicted.quantile_s(budget.quantile):.3f} s")
            yield rows.paragraph(self._price(option), lead=" " * 14, style="dim")
            label = "or"
        if budget.options:
            runs = len(budget.options[0].sample.runs)
            yield from rows.row("", f"(the time is that within which {of} end; each tried with {runs} seeds)")
        for option in budget.failed if not budget.options else ():
            yield from rows.row(
                "but not", f"{_changes(option)}: {len(option.sample.runs)} simulated seeds say otherwise"
            )
        yield from healthy_row(budget.healthy, rows)

    def _price(self, option: DrawnCase) -> str:
        before, after = self._drawn.predicted.failing, option.predicted.failing
        told = (
            "fails as often as before" if abs(after - before) < 1e-9 else f"fails {share(after)}, not {share(before)}"
        )
        if after > before + 1e-9:
            told = f"MORE ERRORS: {told}"
        fresh = [name for name in option.lost_syn_fails if name not in self._drawn.lost_syn_fails]
        return told + (f"; {', '.join(fresh)} below 1 s: one lost SYN fails the dial" if fresh else "")

    def _end(self) -> Iterator[Text]:
        case, distribution, rows = self._drawn.configured_case.case, self._found.distribution, self._rows
        where = f"{case.path.parent.name}/{FORMULAS_FILE}"
        yield from rows.row("source", f"{distribution.source} ({distribution.name} in {where})", style="dim")
        if self._everything:
            for one in self._drawn.predicted.outcomes:
                meant = "; ".join(f"{term.text}: {term.meaning}" for term in one.formula.terms)
                yield from rows.row("sum", f"{one.seconds:.3f} s = {meant}", style="dim")
            yield from rows.row("holds when", distribution.condition or "always")
            yield from rows.row("run it", f"faultlab run {case.scenario}")
            yield from rows.row("", f"{pluralized(self._found.simulated_runs, 'simulated run')} in all", style="dim")


def _ending(one: PredictedOutcome) -> str:
    if one.ends == "ok":
        return "succeeds"
    return "fails forever" if one.lasting else "fails"


def _bar(chance: float) -> str:
    halves = round(2 * BAR * chance)
    return FULL * (halves // 2) + (HALF if halves % 2 else "")


def _segments(one: PredictedOutcome) -> Iterator[BreakdownSegment]:
    reached_s = 0.0
    for term in one.evaluated.terms:
        if term.total > 0:
            yield BreakdownSegment(began_s=reached_s, ended_s=reached_s + term.total, setting=term.setting)
            reached_s += term.total


def _changes(drawn: DrawnCase) -> str:
    return ", ".join(f"{name} {text}" for name, text in drawn.changes.items())
