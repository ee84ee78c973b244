"""Protects what a reader of the page reads: its golden text, whole, so that a change of words is seen as one.

Other tests assert structure.
"""

import re
from html.parser import HTMLParser
from pathlib import Path

from golden_text import hold_to_golden

from reports.result import ReportResult

GOLDEN = Path(__file__).parent / "golden" / "page.txt"
UNSEEN = frozenset({"script", "style", "svg", "template", "title"})
BLOCKS = frozenset((
    "h1", "h2", "h3", "h4", "p", "li", "tr", "section", "article", "summary", "details", "div", "table", "dt", "dd",
    "figcaption", "pre",
))  # fmt: skip
CHANGING = [
    (re.compile(r"faultlab \d[\w.+-]*"), "faultlab VERSION"),
    (re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?( UTC|Z)?"), "WHEN"),
    (re.compile(r"/\S*/(?=suite|hard)"), "FOLDER/"),
]


class Text(HTMLParser):
    """A line for each block, in which elements and words are separated by a space."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = [""]
        self._unseen = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._unseen += tag in UNSEEN
        if tag in BLOCKS:
            self.lines.append("")

    def handle_endtag(self, tag: str) -> None:
        self._unseen -= tag in UNSEEN
        if tag in BLOCKS:
            self.lines.append("")
        else:
            self.lines[-1] += " "

    def handle_data(self, data: str) -> None:
        if not self._unseen:
            self.lines[-1] += data


def test_what_the_page_says(built: ReportResult) -> None:
    text = Text()
    text.feed(built.page.read_text())
    said = "\n".join(line for line in (" ".join(line.split()) for line in text.lines) if line) + "\n"
    hold_to_golden(GOLDEN, said, CHANGING)
