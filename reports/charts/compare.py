"""Who ran the same case, on one axis: where profile, real client and simulation lie relative to the prediction.

All rows of a page share the axis, which is in per cent of the prediction, so that a column of rows can be compared.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from reports.charts.svg import box, dots, horizontal, label, path, picture, vertical
from reports.figures import MINUS

REACHES = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
"""Per cent on each side that an axis may show."""
COVERED = 0.9
"""The axis is the narrowest that shows this part of all points; the others are arrows at its ends."""
LINE = 24.0
"""Height of a side's line; the text beside it has the same."""
EDGE = 3.0


@dataclass(frozen=True, slots=True)
class SideMarks:
    """A side's runs, each in per cent of the prediction; `middle` is their median's."""

    side: str
    places: tuple[float, ...]
    middle: float


@dataclass(frozen=True, slots=True)
class ComparisonChart:
    """`bounds` is where the others have to lie to agree with the reference, in per cent of the prediction."""

    sides: tuple[SideMarks, ...]
    bounds: tuple[float, float] | None
    reach: float
    words: str

    def at(self, per_cent: float) -> float:
        return min(100 - EDGE, max(EDGE, 50 + (50 - EDGE) * per_cent / self.reach))

    @property
    def svg(self) -> Markup:
        shapes, labels = [], []
        height = LINE * len(self.sides)
        if self.bounds is not None:
            shapes.append(path("band", box(self.at(self.bounds[0]), self.at(self.bounds[1]), 0, height)))
        shapes.append(path("tick", vertical(50, 0, height)))
        for place, one in enumerate(self.sides):
            y = LINE * (place + 0.5)
            inside = [place for place in one.places if abs(place) <= self.reach]
            if inside:
                shapes.append(path(f"range {one.side}", horizontal(self.at(min(inside)), self.at(max(inside)), y)))
            if abs(one.middle) <= self.reach:
                shapes.append(path(f"mark {one.side}", dots([(self.at(one.middle), y)])))
            else:
                labels.append(beyond(one, place))
        return picture("compare", self.words, height, shapes, labels)


def beyond(one: SideMarks, line: int) -> str:
    off = f"{abs(one.middle):.0f} %"
    if one.middle > 0:
        return label(f"beyond right line-{line}", f"+{off} \u25b6")
    return label(f"beyond left line-{line}", f"\u25c0 {MINUS}{off}")


def axis_reach(places: Iterable[float]) -> float:
    """The axis that fits most of these per cents."""
    off: Sequence[float] = sorted(abs(place) for place in places)
    if not off:
        return REACHES[0]
    most = off[min(len(off) - 1, int(COVERED * len(off)))]
    return next((reach for reach in REACHES if reach >= most), REACHES[-1])
