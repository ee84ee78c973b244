"""Problems of a file have the same words and places, whichever of the two libraries reads it."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.language import Problem
from harness.language.yaml import tree
from harness.language.yaml.compose import DEEPEST, compose_with_libyaml, compose_with_ruamel
from harness.language.yaml.tree import InvalidYaml, Tree, parse, plain

PATH = Path("any.scenario.yaml")
SHIPPED = sorted((Path(__file__).parents[2] / "scenarios").rglob("*.yaml"))
BASES = [
    "a: 1\nb: [1, {c: d}]\n",
    "- a\n- 'b c'\n- \"d\\n e\"\n",
    "a: |\n  x\n  y\nb: >-\n  z\n  w\n\n  v\n",
    "{a: b, 'c': [d, e f], g: {h: i}}\n",
    "a: &x {b: 1}\nc: *x\nd:\n  - e\n  - f: g\n    h: i\n",
    "# c\na: b # d\n\n\nc:\n- 1\n-\n- ~\n",
    "a: b\n  c\n  d\ne: 'f\n  g'\nh: \"i\n\n   j\"\n",
    "steps:\n  - {do: send, as: x, when: \"a != 'b'\"}\n  - {inject: y,\n     for: 1s}  # z\n",
]
PIECES = [
    "", " ", "  ", "\n", "\n\n", "\n  ", ":", ": ", "- ", "-", "{", "}", "[", "]", ",", ", ", "'", "\"", "''", "\"\"",
    "&a ", "&", "*a", "*a ", "!!x ", "!", "! ", "%", "#", " # x\n", "|\n", "|-\n", ">", ">+\n", "? ", "?", "null",
    "on", "---\n", "--- ", "...\n", "\n---\n", "<<: ", "=", "\\", "\\x41", "\\/", "\\\n", "@", "`", "~", "x: y", "::",
    ":a", "a:", "[a", "{a", "]:", "}:", "\":", "':", "&a *a", "*a:", "!<x>", "\\q", "\"a\": ", "[? a", "? a\n: b\n",
    " : ", "\u00e9", "\u00a0", "\t", "\r\n", "\u0085", "\u2028", "\ufeff", "\U0001f600", "\x00", "\u007f",
    "{a: b, c}", "[a: b]", "a: b: c", "1:30",
]  # fmt: skip


def read(text: str) -> tuple[Tree | None, tuple[Problem, ...]]:
    try:
        return parse(text, PATH)
    except InvalidYaml as error:
        return None, error.problems


def by_ruamel(text: str) -> tuple[Tree | None, tuple[Problem, ...]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tree, "compose", compose_with_ruamel)
        return read(text)


@given(data=st.data())
@settings(max_examples=400)
def test_a_damaged_text_is_read_and_refused_alike(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(BASES))
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = min(len(text), start + data.draw(st.integers(0, 3)))
        text = text[:start] + data.draw(st.sampled_from(PIECES)) + text[end:]
    assert read(text) == by_ruamel(text)


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_bundled_files_are_read_quickly_and_alike(path: Path) -> None:
    """No bundled file may need ruamel.yaml: reading them is a large part of the time to start."""
    text = path.read_text(encoding="utf-8")
    slowly = by_ruamel(text)
    assert compose_with_libyaml(text) is not None
    assert read(text) == slowly
    assert slowly[0] is not None


@pytest.mark.parametrize(
    ("text", "code", "place", "message"),
    [
        ("a:\n\tb: 1\n", "tab", (2, 1), "a tab where YAML wants spaces"),
        ("a: 'b\nc: d\n", "yaml", (3, 1), "found unexpected end of stream"),
        ('a: "b\n', "yaml", (2, 1), "found unexpected end of stream"),
        ("a: [b, c\n", "yaml", (2, 1), "expected ',' or ']', but got '<stream end>'"),
        ("\U0001f600: 1\n\U0001f600: 2\n", "duplicate-key", (2, 1), "is given twice (first on line 1)"),
        ("x: \U0001f600 a: b\n", "yaml", (1, 7), "mapping values are not allowed here"),
        ("a: 1\r\nb: 2\r\na: 3\r\n", "duplicate-key", (3, 1), "is given twice (first on line 1)"),
        ("a: 1\rb: on\r", "yaml-value", (2, 4), "is a text in YAML 1.2, not a switch"),
        ("a: 1\nb: 1:30\n", "yaml-value", (2, 4), "is a text in YAML 1.2, not a time"),
        ("a: 1\nb:\nc: 2\n", "empty-value", (2, 1), "has no value"),
        ("a: *b\n", "unknown-anchor", (1, 4), "undefined alias"),
        ("a: !!set b\n", "yaml", (1, 4), "YAML tags are not used here"),
        ("%YAML 1.1\n---\na: on\n", "yaml", (1, 1), "YAML directives are not used here"),
        ("a: 1\n---\nb: 2\n", "yaml", (2, 1), "a file holds one scenario"),
        ("a: \x07\n", "yaml", (1, 4), "character U+0007 has no place in YAML"),
        ("# nothing\n", "empty", (1, 1), "there is nothing in this file"),
    ],
)
def test_each_mistake_has_its_words_and_its_place(text: str, code: str, place: tuple[int, int], message: str) -> None:
    problem = read(text)[1][0]
    assert (problem.code, (problem.line, problem.column)) == (code, place)
    assert message in problem.message
    assert read(text) == by_ruamel(text)


def test_a_byte_order_mark_is_no_part_of_the_first_key() -> None:
    found, problems = read("\ufeffa: 1\n")
    assert found is not None
    assert (plain(found), problems) == ({"a": 1}, ())


def test_aliases_cannot_make_a_small_file_large() -> None:
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 10)
    )
    (problem,) = read(bomb)[1]
    assert problem.code == "too-large"


@pytest.mark.parametrize("text", ["[a, " * 20_000, "- " * 60_000, "{a: " * 20_000 + "}" * 20_000])
def test_deep_nesting_is_refused_and_ends_no_process(text: str) -> None:
    """The quick reader recurses in C, where no RecursionError stops it."""
    (problem,) = read(text)[1]
    assert problem.code in ("too-deep", "yaml")


def test_as_deep_as_allowed_is_read_quickly() -> None:
    deepest, too_deep = ("[a, " * depth + "b" + "]" * depth for depth in (DEEPEST, DEEPEST + 1))
    assert compose_with_libyaml(deepest) is not None
    found, problems = read(deepest)
    assert found is not None
    assert not problems
    assert read(too_deep)[1][0].code == "too-deep"


def test_formulas_with_comparisons_and_products_are_read_quickly() -> None:
    """Marks of anchors and tags look like operators: ordinary formulas must not be taken for them."""
    text = "when: \"client.version != '1.27.2' and a * b > 2 - c\"\nx: 2*Net.Read + 1s\n"
    assert compose_with_libyaml(text) is not None
