"""Writes the page: one HTML file with its style, its pictures and its few lines of script inside."""

import base64
import hashlib
import re
from functools import cache
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from harness.records.atomic import write_atomically
from reports import figures
from reports.charts.heat import legend
from reports.pages.cases import placed
from reports.pages.claims import ORDER as CLAIMS
from reports.pages.heat import HOT_S
from reports.pages.verdicts import SEVERITY_ORDER, SIGNS, WORDS
from reports.pages.view import Page

STYLES = ("base.css", "tables.css", "pictures.css", "line.css", "print.css")
SCRIPT = "page.js"
JOINTS = re.compile(r"([._])")


@cache
def environment() -> Environment:
    """Everything is escaped: records hold text from other programs. What is missing is an error, not a blank."""
    made = Environment(
        loader=PackageLoader("reports.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.loopcontrols"],
    )
    made.filters["breakable"] = breakable
    ranks = {verdict: place for place, verdict in enumerate((*SEVERITY_ORDER, *CLAIMS))}
    made.globals.update(figures=figures, placed=placed, words=WORDS, signs=SIGNS, ranks=ranks, legend=legend())
    made.globals["heat_hot_s"] = HOT_S
    return made


def breakable(text: str) -> Markup:
    """Lets a long name break after a dot or a low line. The text itself is escaped."""
    return Markup(JOINTS.sub(r"\1<wbr>", str(escape(text))))  # noqa: S704 - escaped, and no entity has either


def source(name: str) -> Markup:
    """A file of our own, as it is."""
    loaded, _, _ = environment().loader.get_source(environment(), name)  # type: ignore[union-attr]
    return Markup(loaded)  # noqa: S704 - not from a record


def render(page: Page) -> str:
    script = source(SCRIPT)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        environment()
        .get_template("page.html")
        .render(page=page, style=Markup("").join(source(name) for name in STYLES), script=script, script_hash=digest)
    )


def write_page(page: Page, file: Path) -> Path:
    """Whole or not at all. Raises OSError."""
    write_atomically(file, render(page).encode())
    return file
