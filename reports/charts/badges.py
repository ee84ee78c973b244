"""A letter and a colour for each setting, so that pictures and tables speak of the same thing in the same way.

The colour follows from the setting's name alone, so that a dial is blue in every report.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from harness.records.short_names import subject_word

STYLES = (
    (re.compile(r"(metadata|reconnect).*backoff"), "s3"),
    (re.compile(r"backoff|retryinterval|retry\.interval"), "s2"),
    (re.compile(r"dial|connect|connection\.setup"), "s0"),
    (re.compile(r"write|delivery|flush|batch|linger"), "s4"),
    (re.compile(r"read|request|response|fetch"), "s1"),
)
"""Colours (and patterns) of the style sheet by what a setting's name says, the first that fits; `s5` is of all others.
Two settings of one colour differ in their letters."""
OTHERS = "s5"


@dataclass(frozen=True, slots=True)
class Badge:
    """How a setting is marked: `letter` in spans, `style` the class of its colour and pattern."""

    setting: str
    letter: str
    style: str


def badges(settings: Iterable[str]) -> Mapping[str, Badge]:
    """One badge a setting, in order of appearance."""
    names = list(dict.fromkeys(settings))
    shared = Counter(subject_word(name) for name in names)
    taken: dict[str, str] = {}
    for name in sorted(names):
        wishes = letter_candidates(name, unique_ending=shared[subject_word(name)] == 1)
        letter = next((wish for wish in wishes if wish not in taken.values()), "?")
        taken[name] = letter
    return {name: Badge(name, taken[name], style_of(name)) for name in names}


def style_of(setting: str) -> str:
    """The class of its colour."""
    return next((style for name, style in STYLES if name.search(setting.lower())), OTHERS)


def letter_candidates(name: str, *, unique_ending: bool) -> list[str]:
    """`Net.ReadTimeout` gets R if that is free; settings with the same end (`Retry.Backoff`) get their first letter."""
    first, last = name[:1], subject_word(name)
    order = [*last[:1], first] if unique_ending else [first, *last[:1]]
    rest = [character for character in name if character.isalpha()]
    return [character.upper() for character in [*order, *rest, *"ABCDEFGHIJKLMNOPQRSTUVWXYZ"]]
