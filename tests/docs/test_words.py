"""Protects plain English: words and phrases that were retired stay out of the documentation and of what users read."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RETIRED = {
    r"whoever": "the client that, a user who",
    r"nobody": "no client, no process",
    r"somebody": "a user; of a claim: published",
    r"strangers?": "others",
    r"spoilt": "damaged, invalid",
    r"anew": "again",
    r"gravest": "worst, most severe",
    r"for ever": "forever, without limit",
    r"in good order": "cleanly",
    r"in vain": "without effect",
    r"befalls?": "happens to",
    r"reckon\w*": "compute",
    r"hangs? on its": "depends on",
    r"its like": "others",
    r"held against": "compared with",
    r"holds? (?:\w+ ){1,4}against": "compares with",
    r"(?:goes|go|going) on with": "resume, continue",
    r"un?told": "unknown",
    r"is told|tells? (?:nothing|of)": "is notified, says nothing about",
    r"in the light": "reachable",
}
"""What is not written, and what to write."""
PAGES = sorted(
    [*(ROOT / "docs").rglob("*.md"), *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "action.yml"))]
)
TEMPLATES = sorted((ROOT / "reports" / "pages" / "templates").glob("*.html"))
ROOMS = ("cli", "harness", "reports")


def found(text: str) -> list[str]:
    """Each retired phrase in the text, with what to write."""
    plain = re.sub(r"`[^`]*`", "", text)
    return [
        f"{match[0]!r}: write {instead}"
        for phrase, instead in RETIRED.items()
        for match in re.finditer(rf"\b(?:{phrase})\b", plain, re.IGNORECASE)
    ]


def messages(path: Path) -> Iterator[tuple[int, str]]:
    """Line and text of each constant of a module that is no documentation of code and has more than a word."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        of_code = not isinstance(node, ast.Constant) or id(node) in documentation
        if not of_code and isinstance(node.value, str) and " " in node.value:
            yield node.lineno, node.value


@pytest.mark.parametrize("page", [*PAGES, *TEMPLATES], ids=lambda page: page.name)
def test_a_page_has_no_retired_words(page: Path) -> None:
    assert found(page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("room", ROOMS)
def test_messages_have_no_retired_words(room: str) -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {words}"
        for path in sorted((ROOT / room).rglob("*.py"))
        for line, text in messages(path)
        for words in found(text)
    ]
    assert wrong == []


def test_what_is_retired_is_found() -> None:
    assert found("Whoever sends it anew is told nothing of it.") != []
    assert found("`whoever` is a name in code.") == []
