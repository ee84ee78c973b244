"""The few shapes that the page's charts are made of, as text that is safe to put into a page.

Charts are 100 units wide and stretched to the width that they get: strokes and round caps keep their size on the
screen, so that a line of no length is a dot. Text never stands inside, because it would be stretched too.
"""

from collections.abc import Iterable

from markupsafe import Markup, escape

ARM = 3.0
"""Width of a bracket."""


def number(value: float) -> str:
    """As short as two decimals allow."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if "." in f"{value:.2f}" else f"{value:.2f}"


def path(style: str, data: str) -> str:
    return f'<path class="{style}" d="{data}"/>' if data else ""


def dots(places: Iterable[tuple[float, float]]) -> str:
    """Path data: a dot at each place."""
    return "".join(f"M{number(x)} {number(y)}h0" for x, y in places)


def horizontal(x: float, to: float, y: float) -> str:
    """Path data: a line from x to another x."""
    return f"M{number(x)} {number(y)}H{number(to)}"


def vertical(x: float, y: float, to: float) -> str:
    return f"M{number(x)} {number(y)}V{number(to)}"


def bracket(x: float, to: float, y: float, below: float) -> str:
    """Path data: `]` at the end of what begins at the left edge, `[` at the beginning of what goes on to the right."""
    at, arm = (to, to - ARM) if x <= 0 else (x, x + ARM)
    return f"M{number(arm)} {number(y)}H{number(at)}V{number(below)}H{number(arm)}"


def box(x: float, to: float, y: float, below: float) -> str:
    return f"M{number(x)} {number(y)}H{number(to)}V{number(below)}H{number(x)}z"


def picture(style: str, words: str, height: float, paths: Iterable[str], labels: Iterable[str] = ()) -> Markup:
    """A chart with its words for those who do not see it. `paths` and `labels` are markup of this module."""
    return Markup(  # noqa: S704 - shapes are numbers, labels come from `label`, words are escaped
        f'<div class="{style}" role="img" aria-label="{escape(words)}"><svg viewBox="0 0 100 {height:g}" '
        f'preserveAspectRatio="none" aria-hidden="true">{"".join(paths)}</svg>{"".join(labels)}</div>'
    )


def label(style: str, text: str, at: float | None = None) -> str:
    """Text over a chart, `at` per cent of its width."""
    place = f' style="left:{number(at)}%"' if at is not None else ""
    return f'<span class="{style}"{place}>{escape(text)}</span>'
