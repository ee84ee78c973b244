"""`faultlab explain --picture`: one bar for each release and each claim, made of what is waited for, as an SVG file.

Letters and colours are those of the report. Nothing is drawn that was not simulated, but for the claims, which are
drawn as they are claimed.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree

from harness.explaining import Explanation, Measurement
from harness.judging import Breakdown
from harness.measures import parse as parse_measure
from harness.records.run import Term
from reports.charts.axis import Axis
from reports.charts.badges import Badge, badges

SVG = "http://www.w3.org/2000/svg"
WIDTH, LEFT, RIGHT = 880.0, 244.0, 96.0
TOP, ROW, BAR = 92.0, 50.0, 30.0
MIN_LETTER_WIDTH = 15.0
"""A block narrower than this has no letter."""
MAX_BLOCKS = 40
MAX_SUBTITLE_CHARACTERS = 38
"""Characters of the small words on the left."""
FONT = "ui-sans-serif, system-ui, 'Segoe UI', Roboto, 'Noto Sans', 'Liberation Sans', Arial, sans-serif"
STYLE = """
:root { color-scheme: light dark; --paper: #fbfaf7; --ink: #1b2230; --soft: #545e6e; --line: #e3dfd6; --on: #ffffff;
  --fail: #ab2a1f; --s0: #2f5d9b; --s1: #a34e0c; --s2: #2c6d47; --s3: #6c468c; --s4: #17666f; --s5: #963655; }
@media (prefers-color-scheme: dark) { :root { --paper: #14171c; --ink: #e7eaef; --soft: #a3acba; --line: #313843;
  --on: #12151a; --fail: #f59a8d; --s0: #8fb6ec; --s1: #efa765; --s2: #84cc9c; --s3: #c7a5e2; --s4: #77c6cf;
  --s5: #ec9cb5; } }
.paper { fill: var(--paper); } text { fill: var(--ink); } .soft { fill: var(--soft); } .fail { fill: var(--fail); }
.tick { stroke: var(--line); } .on { fill: var(--on); font-weight: 650; text-anchor: middle; }
.s0 { fill: var(--s0); } .s1 { fill: var(--s1); } .s2 { fill: var(--s2); } .s3 { fill: var(--s3); }
.s4 { fill: var(--s4); } .s5 { fill: var(--s5); } .block { stroke: var(--paper); stroke-width: 1; }
.claim { fill-opacity: 0.35; stroke-dasharray: 3 2; stroke: var(--soft); }
.said { font-weight: 650; text-anchor: middle; }
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One bar. `parts` are (setting, seconds) in order; a setting of None is time that nothing accounts for."""

    name: str
    below: str
    parts: tuple[tuple[str | None, float], ...]
    figure: str
    claim: bool = False
    refuted: bool = False

    @property
    def total_s(self) -> float:
        return sum(seconds for _, seconds in self.parts)


def picture(found: Explanation, measured: Sequence[Measurement]) -> str:
    """The SVG document's text."""
    bars = tuple(_bars(found, measured))
    marks = badges(setting for bar in bars for setting, _ in bar.parts if setting is not None)
    axis = Axis(0.0, max([bar.total_s for bar in bars] + [1e-3]))
    height = TOP + ROW * len(bars) + 66 + 20 * ((len(marks) + 2) // 3)
    title = _finding(found)
    root = ElementTree.Element(
        "svg", xmlns=SVG, viewBox=f"0 0 {WIDTH:g} {height:g}", width=f"{WIDTH:g}", height=f"{height:g}", role="img"
    )
    root.set("font-family", FONT)
    ElementTree.SubElement(root, "title").text = title
    ElementTree.SubElement(root, "desc").text = _text_alternative(bars)
    ElementTree.SubElement(root, "style").text = STYLE
    ElementTree.SubElement(root, "rect", {"class": "paper", "width": "100%", "height": "100%", "rx": "8"})
    _text(root, 20, 34, title, size=18, weight="650")
    _text(root, 20, 56, _conditions(found), size=13, css="soft")
    _ticks(root, axis, TOP + ROW * len(bars))
    for index, bar in enumerate(bars):
        _bar(root, bar, marks, axis, TOP + ROW * index)
    _legend(root, found, marks, TOP + ROW * len(bars) + 40)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def _bars(found: Explanation, measured: Sequence[Measurement]) -> Iterable[Bar]:
    plan = found.configured_case.plan
    tried = "simulated"
    for one in measured:
        tried += f", {one.median_s:.3f} s {'really' if one.driver == 'real' else one.environment}"
    if found.breakdown is not None:
        yield _real(f"{plan.client.name} {plan.client.version}", tried, found.breakdown)
    for other in found.others:
        if other.breakdown is not None and other.run is not None and other.run.seconds is not None:
            yield _real(f"{plan.client.name} {other.version}", "simulated", other.breakdown)
    for claimed in found.claims:
        parts = tuple(part for term in claimed.evaluated.terms for part in _waits(term))
        yield Bar(
            name="a claim, held" if claimed.holds else "a claim, refuted",
            refuted=not claimed.holds,
            below=_cut(claimed.expectation.formula),
            parts=parts,
            figure=f"{claimed.predicted_s:.3f} s",
            claim=True,
        )


def _cut(text: str) -> str:
    return text if len(text) <= MAX_SUBTITLE_CHARACTERS else f"{text[: MAX_SUBTITLE_CHARACTERS - 1]}…"


def _waits(term: Term) -> Iterable[tuple[str | None, float]]:
    """`4*Net.DialTimeout` is four blocks; a term that is not a whole number of waits, or far too many, is one block."""
    count = term.count or 1.0
    if count.is_integer() and 1 <= count <= MAX_BLOCKS:
        return [(term.setting, term.total / count)] * int(count)
    return [(term.setting, term.total)]


def _real(name: str, below: str, breakdown: Breakdown) -> Bar:
    parts = tuple((segment.setting, segment.ended_s - segment.began_s) for segment in breakdown.segments)
    return Bar(name=name, below=below, parts=parts, figure=f"{breakdown.measured_s:.3f} s")


def _finding(found: Explanation) -> str:
    plan, name = found.configured_case.plan, parse_measure(found.prediction.cited.measure)
    operation = plan.operation_name(name.alias) or name.alias
    ends = {"time_to_error": "fails", "time_to_ack": "is acknowledged"}.get(name.measure, "ends")
    faults = " and ".join(found.configured_case.case.faults)
    client = f"{plan.client.name} {plan.client.version}"
    return f"{client}, {faults}: a {operation} {ends} after {found.prediction.seconds:.3f} s"


def _conditions(found: Explanation) -> str:
    plan = found.configured_case.plan
    given = ", ".join(f"{name} {found.configured_case.settings[name].text}" for name in plan.given_settings)
    cluster = f"{plan.cluster.brokers} broker{'s' if plan.cluster.brokers > 1 else ''}"
    return f"{cluster}, bootstrap {len(plan.client.bootstrap)}; {given or 'default settings'}"


def _text_alternative(bars: Sequence[Bar]) -> str:
    """The picture in words."""
    return " ".join(f"{bar.name} ({bar.below}): {bar.figure}." for bar in bars)


def _bar(root: ElementTree.Element, bar: Bar, marks: Mapping[str, Badge], axis: Axis, top: float) -> None:
    _text(
        root, 20, top + 14, bar.name, size=14, weight="650", css="fail" if bar.claim and "refuted" in bar.name else ""
    )
    _text(root, 20, top + 31, bar.below, size=11, css="soft")
    reached_s = 0.0
    for setting, seconds in bar.parts:
        left, width = _x(axis, reached_s), _x(axis, reached_s + seconds) - _x(axis, reached_s)
        reached_s += seconds
        badge = marks.get(setting) if setting else None
        if badge is None or width <= 0:
            continue
        css = f"block {badge.style}" + (" claim" if bar.claim else "")
        box = ElementTree.SubElement(root, "rect", {"class": css, "rx": "2", "height": f"{BAR:g}"})
        box.set("x", f"{left:.1f}")
        box.set("y", f"{top:.1f}")
        box.set("width", f"{width:.1f}")
        ElementTree.SubElement(box, "title").text = f"{setting}: {seconds:.3f} s"
        if width >= MIN_LETTER_WIDTH:
            _text(root, left + width / 2, top + BAR / 2 + 5, badge.letter, size=13, css="said" if bar.claim else "on")
    _text(root, _x(axis, reached_s) + 8, top + BAR / 2 + 5, bar.figure, size=14, weight="650")


def _ticks(root: ElementTree.Element, axis: Axis, bottom: float) -> None:
    for percent, label in axis.ticks:
        x = LEFT + percent / 100 * (WIDTH - LEFT - RIGHT)
        line = {"class": "tick", "x1": f"{x:.1f}", "x2": f"{x:.1f}", "y1": f"{TOP - 10:g}", "y2": f"{bottom:g}"}
        ElementTree.SubElement(root, "line", line)
        _text(root, x, bottom + 15, f"{label} s", size=11, css="soft", anchor="middle")


def _legend(root: ElementTree.Element, found: Explanation, marks: Mapping[str, Badge], top: float) -> None:
    for index, badge in enumerate(marks.values()):
        x, y = 20 + (index % 3) * 280, top + 20 * (index // 3)
        box = {"class": badge.style, "x": f"{x}", "y": f"{y:g}", "width": "16", "height": "16", "rx": "2"}
        ElementTree.SubElement(root, "rect", box)
        _text(root, x + 8, y + 12.5, badge.letter, size=11, css="on")
        setting = found.configured_case.settings.get(badge.setting)
        _text(root, x + 24, y + 12.5, f"{badge.setting} {setting.text if setting else ''}".strip(), size=12)
    below = top + 20 * ((len(marks) + 2) // 3) + 14
    how = "How to read: a bar is one call, from its beginning to its end; a block is one wait, up to the named limit."
    _text(root, 20, below, how, size=11, css="soft")


def _x(axis: Axis, seconds: float) -> float:
    return LEFT + axis.at(seconds) / 100 * (WIDTH - LEFT - RIGHT)


def _text(
    root: ElementTree.Element, x: float, y: float, words: str, *, size: int, css: str = "", weight: str = "",
    anchor: str = "",
) -> None:  # fmt: skip
    attributes = {"x": f"{x:.1f}", "y": f"{y:.1f}", "font-size": f"{size}"}
    attributes |= {"class": css} if css else {}
    attributes |= {"font-weight": weight} if weight else {}
    attributes |= {"text-anchor": anchor} if anchor else {}
    ElementTree.SubElement(root, "text", attributes).text = words
