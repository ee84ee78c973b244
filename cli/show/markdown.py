"""Markdown for a CI system's page of a job, in which no text of anybody's is more than text."""

from collections.abc import Iterable, Sequence

from cli.terminal.problem_texts import count_phrase
from harness.language import Problems

SPECIAL = {character: f"&#{ord(character)};" for character in "&<>|`*_[]\\~#@$"}
"""What Markdown, HTML, mathematics or GitHub itself would make something of."""

MAX_CHARACTERS = 400
"""A cell of a table holds no more of one text."""


def plain(text: str) -> str:
    """One line of text that shows as it is."""
    line = " ".join(text.split())
    if len(line) > MAX_CHARACTERS:
        line = f"{line[:MAX_CHARACTERS]}…"
    return _shown(line)


def block(lines: Iterable[str]) -> str:
    """Lines as a terminal shows them, column below column."""
    # A blank line would end the block where Markdown looks for one.
    return f"<pre>\n{chr(10).join(_shown(line) or '&#32;' for line in lines)}\n</pre>"


def _shown(line: str) -> str:
    return "".join(SPECIAL.get(character, character if character.isprintable() else "\ufffd") for character in line)


def code(text: str) -> str:
    """As in a terminal, to be copied."""
    return f"<code>{plain(text)}</code>" if text else ""


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Rows of cells that are Markdown already."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def problems_markdown(problems: Problems) -> str:
    """What is wrong with scenarios."""
    head = f"### faultlab: {count_phrase(problems)}, nothing was started"
    rows = ((code(problem.where), plain(problem.message), plain(problem.hint)) for problem in problems.problems)
    return f"{head}\n\n{table(('place', 'problem', 'what to do'), rows)}\n"
