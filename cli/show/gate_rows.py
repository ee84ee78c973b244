"""Rows of a gate's answer: a word on the left, and the text beside it in the columns that there are."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from rich.cells import cell_len
from rich.text import Text

from cli.show.rows import right_aligned, wrapped

T = TypeVar("T")

WORD = 12
"""Columns of the word on the left."""
STYLES = {
    "": "", "REGRESSION": "bold red", "LOST": "bold red", "UNSURE": "yellow", "NOTED": "cyan", "BETTER": "green",
    "unchanged": "green",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class GateRows:
    """`width` columns; `show_all`: nothing is left out."""

    width: int
    show_all: bool

    def wrapped(self, text: str, *, lead: str, style: str = "") -> Text:
        return wrapped(text, lead=lead, style=style, width=self.width)

    def labelled(self, word: str, name: str, text: str = "") -> Text:
        """`LOST        sarama-breaker-open  in the baseline, not run now`; what does not fit goes below."""
        line = Text(word.ljust(WORD), style=STYLES[word])
        together = f"{name}  {text}".rstrip()
        if WORD + cell_len(together) <= self.width:
            return line.append(together, style="default")
        line.append(self.wrapped(name, lead=" " * WORD).plain.lstrip(), style="default")
        return line.append("\n").append_text(self.wrapped(text, lead=" " * WORD)) if text else line

    def indented(self, *parts: str) -> Text:
        """Figures below a case's name, two spaces between them."""
        text = "  ".join(part for part in parts if part)
        fits = WORD + cell_len(text) <= self.width
        return Text(" " * WORD + text) if fits else self.wrapped(text, lead=" " * WORD)

    def figures_beside(self, name: str, text: str, *, columns: int) -> Text:
        """A name and its figures, in so many columns where there are as many."""
        return Text(" " * WORD + right_aligned(name, text, lead=WORD, width=min(WORD + columns, self.width)))

    def limited(self, found: Sequence[T], most: int) -> Sequence[T]:
        return found if self.show_all else found[:most]

    def omitted_note(self, found: Sequence[object], most: int) -> Iterator[Text]:
        """How many `limited` left out."""
        left = len(found) - len(self.limited(found, most))
        if left:
            yield self.wrapped(f"and {left} more (--all)", lead=" " * WORD, style="dim")
