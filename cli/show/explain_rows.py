"""Rows of an explanation: a word on the left and its text beside it, folded at the right edge."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.text import Text

from cli.show.formatting import pluralized
from cli.show.rows import right_aligned, wrapped
from harness.explaining import Assumption
from harness.plan import RunPlan

LABEL = 12
"""Columns of the words on the left."""


@dataclass(frozen=True, slots=True)
class Rows:
    """`width` columns."""

    width: int

    def row(self, label: str, text: str, *, style: str = "") -> Iterator[Text]:
        """`label` on the left, `text` folded beside it. An empty label continues the row above."""
        yield wrapped(
            text, lead=f"{label:<{LABEL}}" if len(label) < LABEL else f"{label} ", style=style, width=self.width
        )

    def figure(self, label: str, text: str, figure: str) -> Text:
        """A row whose figure stands at the right edge, behind the last line of its text."""
        lead = f"{label:<{LABEL}}" if len(label) < LABEL else f"{label} "
        above, newline, last = wrapped(text, lead=lead, width=self.width).plain.rpartition("\n")
        return Text(above + newline + right_aligned(last, figure, lead=0, width=self.width))

    def paragraph(self, text: str, *, lead: str = "", style: str = "") -> Text:
        """Sentences from edge to edge."""
        return wrapped(text, lead=lead, style=style, width=self.width)


def addresses_of(plan: RunPlan) -> str:
    """`3 brokers, 5 bootstrap addresses: 1 live, 4 dead`."""
    client = plan.client
    dead, refused, number = len(client.blackholed), len(client.refused), len(client.bootstrap)
    there = f"{pluralized(plan.cluster.brokers, 'broker')}, {number} bootstrap address{'es' if number > 1 else ''}"
    states = {"live": number - dead - refused, "dead": dead, "refused": refused}
    return there + (": " + ", ".join(f"{n} {state}" for state, n in states.items() if n) if dead or refused else "")


def assumed_rows(assumed: Sequence[Assumption], rows: Rows) -> Iterator[Text]:
    """What the answer takes to be set though nobody asked for it."""
    for one in assumed:
        yield from rows.row("assumes", f"{one.name}={one.text} (by default {one.default}: no formula holds then)")


def share(chance: float) -> str:
    """`16.7 %`."""
    return f"{100 * chance:.1f} %"
