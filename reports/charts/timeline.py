"""The time line of one run: the fault, what each connection waited for, and the formula's terms, on one axis."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from harness.records.bounds import LIMITS
from reports.charts.axis import Axis
from reports.charts.badges import Badge, badges
from reports.charts.spans import ANSWER, DIAL, Span, covered_s, operation_spans
from reports.figures import amount, many
from reports.grouping import grouped

CLIENT_ITSELF = "the client itself"
BETWEEN = "between waits"
BETWEEN_DIALS = "between dials"
NOT_RECORDED = "nothing was told"
IN_ALL = "in all"
ON_THE_WIRE = "dials, seen on the wire"
ANSWERS = "waiting for first bytes, seen on the wire"
BETWEEN_SEEN = "neither dialling nor waiting for bytes"
PURPOSES = {DIAL: "dial", ANSWER: "silence"}
"""What a block that names no setting is called."""
FARTHEST_MARK = 2.0
"""A limit that is farther away than so many times what the call took is not drawn: it would squeeze the picture."""
MIN_SHARE = 0.001
"""A wait that is shorter than this part of the call is not drawn: an answer that came at once, a back-off that the
call's end cut off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A bar: where it stands and what it says. `badge` is None for time that no setting accounts for. `outside`: no
    term of the formula knows it."""

    left: float
    width: float
    badge: Badge | None
    words: str
    short: str = ""
    outside: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """What happened on one connection; `detail` tells where it leads."""

    name: str
    detail: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultBand:
    """`confirmed` is where the world had confirmed it, `in_effect` the width from there on."""

    left: float
    width: float
    confirmed: float
    in_effect: float
    name: str
    times: str
    proof: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TermRow:
    """A setting's share: by the formula (times and seconds, None where no term names it), and as measured: None where
    that is unknown, as of a term without a setting."""

    name: str
    badge: Badge | None = None
    formula_count: float | None = None
    formula_s: float | None = None
    measured_count: int | None = None
    measured_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """`lasted_s` is the operation's time, `predicted_s` the formula's, or the limit where `kind` is one; both from
    the call on. `mark` is where a prediction without terms lies, None beyond the picture. `spans` are all waits, those
    too that are too short to be drawn. `rows` add up to `total`; without a formula the longest stands first."""

    axis: Axis
    operation: Mapping[str, Any]
    call: Block
    faults: tuple[FaultBand, ...]
    lanes: tuple[Lane, ...]
    formula: tuple[Block, ...]
    measured: tuple[Block, ...]
    rows: tuple[TermRow, ...]
    total: TermRow
    spans: tuple[Span, ...]
    legend: tuple[Badge, ...]
    lasted_s: float
    predicted_s: float | None
    mark: float | None
    kind: str

    @property
    def by_formula(self) -> bool:
        """Some term names a setting: what no term names is outside."""
        return any(row.badge and row.formula_s is not None for row in self.rows)

    @property
    def wire_only(self) -> bool:
        """The client reported no waits: what is known of them was seen on the wire."""
        return not any(one.setting for one in self.spans)


def timeline_of(run: Mapping[str, Any], judged: Mapping[str, Any], events: Sequence[Mapping[str, Any]]) -> Timeline:
    """The time line of the operation that `judged`, an expectation of this run, is about."""
    alias = judged["measure"].partition(".")[0]
    operation = next(one for one in run["operations"] if one["alias"] == alias)
    started_ns, ended_ns = operation["started_ns"], operation["ended_ns"]
    lasted_s = (ended_ns - started_ns) / 1e9
    every = operation_spans(events, started_ns, ended_ns)
    spans = tuple(one for one in every if one.lasted_s >= lasted_s * MIN_SHARE or (one.seen and one.purpose != ANSWER))
    terms = terms_of(judged)
    marks = badges([*(t["setting"] for t in terms if t["setting"]), *(s.setting for s in spans if s.setting)])
    in_formula = settings_of(terms, marks)
    began_s = [(fault["began_ns"] - started_ns) / 1e9 for fault in run["faults"]]
    predicted_s = judged["predicted"]
    farthest_s = predicted_s if predicted_s and (terms or predicted_s <= FARTHEST_MARK * lasted_s) else 0.0
    axis = Axis.around(min([0.0, *(b for b in began_s if b > -0.1 * lasted_s)]), max(lasted_s, farthest_s))
    rows = term_rows(terms, spans, marks, lasted_s)
    return Timeline(
        axis=axis,
        operation=operation,
        call=call_block(axis, operation, lasted_s),
        faults=tuple(fault_band(axis, fault, started_ns) for fault in run["faults"]),
        lanes=lanes_of(axis, spans, marks, in_formula),
        formula=stack_blocks(axis, formula_parts(terms, marks)),
        measured=stack_blocks(axis, measured_parts(terms, spans, marks, lasted_s)),
        rows=rows if terms else tuple(sorted(rows, key=lambda row: -(row.measured_s or 0.0))),
        total=TermRow(name=IN_ALL, formula_s=predicted_s, measured_s=lasted_s),
        spans=every,
        legend=tuple(marks.values()),
        lasted_s=lasted_s,
        predicted_s=predicted_s,
        mark=axis.at(farthest_s) if farthest_s and not terms else None,
        kind=judged["kind"],
    )


def with_page_badges(line: Timeline, marks: Mapping[str, Badge]) -> Timeline:
    """The same with other letters and colours: those that a setting has on the whole page."""

    def recoloured(block: Block) -> Block:
        if block.badge is None:
            return block
        badge = marks[block.badge.setting]
        short = block.short.removesuffix(block.badge.letter) + badge.letter if block.short else ""
        return replace(block, badge=badge, short=short)

    return replace(
        line,
        lanes=tuple(replace(lane, blocks=tuple(recoloured(block) for block in lane.blocks)) for lane in line.lanes),
        formula=tuple(recoloured(block) for block in line.formula),
        measured=tuple(recoloured(block) for block in line.measured),
        rows=tuple(replace(row, badge=marks[row.badge.setting] if row.badge else None) for row in line.rows),
        legend=tuple(marks[badge.setting] for badge in line.legend),
    )


def terms_of(judged: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The terms of its formula. A limit has none: it says how long, not of what; nor has a formula that names no
    setting."""
    terms = judged["terms"] or []
    return terms if judged["kind"] not in LIMITS and any(term["setting"] for term in terms) else []


def settings_of(terms: Iterable[Mapping[str, Any]], marks: Mapping[str, Badge]) -> set[str]:
    """Settings that the formula knows. A bound that names none says nothing of any: then no wait is outside of it."""
    return {term["setting"] for term in terms if term["setting"]} or set(marks)


def call_block(axis: Axis, operation: Mapping[str, Any], lasted_s: float) -> Block:
    ending = {"ok": "succeeded", "failed": "its error came"}.get(operation["outcome"], "the lab gave up")
    words = f"{operation['operation']} called; {ending} after {lasted_s:.3f} s"
    return Block(left=axis.at(0), width=axis.share(lasted_s), badge=None, words=words)


def fault_band(axis: Axis, fault: Mapping[str, Any], started_ns: int) -> FaultBand:
    def after_call(moment_ns: int) -> float:
        return (moment_ns - started_ns) / 1e9

    began_s, confirmed_s = after_call(fault["began_ns"]), after_call(fault["confirmed_ns"])
    healed_s = after_call(fault["healed_ns"]) if fault["healed_ns"] is not None else None
    left = axis.at(began_s)
    right = axis.at(healed_s) if healed_s is not None else 100.0
    healed = f"healed at {amount(healed_s, 's')}" if healed_s is not None else "not healed"
    times = f"injected at {amount(began_s, 's')}, in effect at {amount(confirmed_s, 's')}, {healed}"
    proven = "proven" if fault["proven"] else "not proven"
    return FaultBand(
        left=left,
        width=round(right - left, 3),
        name=fault["fault"],
        confirmed=axis.at(confirmed_s),
        in_effect=round(max(0.0, right - axis.at(confirmed_s)), 3),
        times=times,
        proof=f"{proven}: {fault['finding']}",
    )


def lanes_of(axis: Axis, spans: Iterable[Span], marks: Mapping[str, Badge], in_formula: set[str]) -> tuple[Lane, ...]:
    lanes = []
    for connection, own in grouped(spans, lambda one: one.connection).items():
        blocks = tuple(
            Block(
                left=axis.at(one.began_s),
                width=axis.share(one.lasted_s),
                badge=marks.get(one.setting or ""),
                short="" if one.setting else PURPOSES.get(one.purpose, one.purpose),
                words=block_words(one),
                outside=one.setting not in in_formula,
            )
            for one in own
        )
        lanes.append(Lane(name=lane_name(connection, own), detail=connection_target(own[0]), blocks=blocks))
    return tuple(sorted(lanes, key=lambda lane: lane.name != CLIENT_ITSELF))


def block_words(span: Span) -> str:
    """`Net.ReadTimeout, response: 2.001 s from 0.500 s`; of what the wire shows how it ended, too."""
    when = f"{span.lasted_s:.3f} s from {span.began_s:.3f} s"
    if span.setting:
        return f"{span.setting}, {span.purpose}: {when}"
    if span.purpose not in PURPOSES:
        return f"{span.purpose} at {span.began_s:.3f} s"
    ended = f", {span.outcome or 'outlasted the call'}" if span.seen else ""
    return f"{PURPOSES[span.purpose]}: {when}{ended}"


def lane_name(connection: int | None, own: Sequence[Span]) -> str:
    if connection is None:
        return CLIENT_ITSELF
    return f"from port {connection}" if own[0].seen else f"connection {connection}"


def connection_target(span: Span) -> str:
    if span.connection is None:
        return "between tries"
    if span.broker is None:
        return span.address or ""
    target = "bootstrap" if span.broker < 0 else f"broker {span.broker}"
    return f"{target} {span.address}" if span.address else target


Part = tuple[Badge | None, str, float, bool]
"""Badge, words, seconds, whether it is outside the formula."""


def stack_blocks(axis: Axis, parts: Iterable[Part]) -> tuple[Block, ...]:
    blocks, reached_s = [], 0.0
    for badge, short, seconds, outside in parts:
        words = f"{short}: {seconds:.3f} s" if badge is None else f"{badge.setting}: {short}, {seconds:.3f} s"
        left, width = axis.at(reached_s), axis.share(seconds)
        blocks.append(Block(left=left, width=width, badge=badge, short=short, words=words, outside=outside))
        reached_s += seconds
    return tuple(blocks)


def formula_parts(terms: Iterable[Mapping[str, Any]], marks: Mapping[str, Badge]) -> list[Part]:
    parts: list[Part] = []
    for term in terms:
        badge = marks.get(term["setting"] or "")
        parts.append((badge, times(term["count"], badge) if badge else term["text"], term["total"], False))
    return parts


def measured_parts(
    terms: Iterable[Mapping[str, Any]], spans: Sequence[Span], marks: Mapping[str, Badge], lasted_s: float
) -> list[Part]:
    in_formula = settings_of(terms, marks)
    parts: list[Part] = []
    for setting, badge in marks.items():
        own = [one for one in spans if one.setting == setting]
        if own:
            parts.append((badge, times(len(own), badge), sum(one.lasted_s for one in own), setting not in in_formula))
    parts += [(None, short, seconds, True) for _, short, _, seconds in unnamed_spans(spans)]
    rest_s = lasted_s - covered_s(spans)
    return [*parts, (None, remainder_label(spans), rest_s, True)] if rest_s > 0.005 * lasted_s else parts


def remainder_label(spans: Sequence[Span]) -> str:
    """What time is called that no span covers: nothing is guessed of a client that tells no waits."""
    if not spans:
        return NOT_RECORDED
    if any(one.setting for one in spans):
        return BETWEEN
    return BETWEEN_SEEN if any(one.seen for one in spans) else BETWEEN_DIALS


def unnamed_spans(spans: Sequence[Span]) -> list[tuple[str, str, int, float]]:
    """Dials, and waits for bytes, that no setting is named for: a name, a short one, how many, and the time that at
    least one of them took. Where both were under way, it counts as a dial."""
    dials = [one for one in spans if one.setting is None and one.purpose not in (ANSWER, *ended_purposes(spans))]
    answers = [one for one in spans if one.setting is None and one.purpose == ANSWER]
    found = []
    if dials:
        found.append((ON_THE_WIRE, many(len(dials), "dial"), len(dials), covered_s(dials)))
    if answers:
        alone_s = covered_s([*dials, *answers]) - covered_s(dials)
        found.append((ANSWERS, many(len(answers), "silence"), len(answers), alone_s))
    return found


def ended_purposes(spans: Iterable[Span]) -> set[str]:
    """How connections ended, as the wire showed it."""
    return {one.purpose for one in spans if one.seen} - set(PURPOSES)


def times(count: float | None, badge: Badge) -> str:
    return badge.letter if count is None or count == 1 else f"{count:g}\u202f\u00d7\u202f{badge.letter}"


def term_rows(
    terms: Sequence[Mapping[str, Any]], spans: Sequence[Span], marks: Mapping[str, Badge], lasted_s: float
) -> tuple[TermRow, ...]:
    rows = []
    for setting, badge in marks.items():
        own_terms = [term for term in terms if term["setting"] == setting]
        own_spans = [one for one in spans if one.setting == setting]
        rows.append(
            TermRow(
                badge=badge,
                name=setting,
                formula_count=sum(term["count"] or 0 for term in own_terms) if own_terms else None,
                formula_s=sum(term["total"] for term in own_terms) if own_terms else None,
                measured_count=len(own_spans),
                measured_s=sum(one.lasted_s for one in own_spans),
            )
        )
    rows += [
        TermRow(name=term["text"], formula_count=term["count"], formula_s=term["total"])
        for term in terms
        if not term["setting"]
    ]
    rows += [
        TermRow(name=name, measured_count=count, measured_s=seconds) for name, _, count, seconds in unnamed_spans(spans)
    ]
    return (*rows, TermRow(name=remainder_label(spans), measured_s=lasted_s - covered_s(spans)))
