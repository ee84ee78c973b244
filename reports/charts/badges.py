"""A letter and a colour for each setting, so that pictures and tables speak of the same thing in the same way."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from harness.records.short_names import subject_word

COLOURS = 6
"""Colours (and patterns) of the style sheet, `s0` to `s5`; a seventh setting begins again with the first."""


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
    for name in names:
        wishes = letter_candidates(name, unique_ending=shared[subject_word(name)] == 1)
        letter = next((wish for wish in wishes if wish not in taken.values()), "?")
        taken[name] = letter
    return {name: Badge(name, taken[name], f"s{index % COLOURS}") for index, name in enumerate(names)}


def letter_candidates(name: str, *, unique_ending: bool) -> list[str]:
    """`Net.ReadTimeout` gets R if that is free; settings with the same end (`Retry.Backoff`) get their first letter."""
    first, last = name[:1], subject_word(name)
    order = [*last[:1], first] if unique_ending else [first, *last[:1]]
    rest = [character for character in name if character.isalpha()]
    return [character.upper() for character in [*order, *rest, *"ABCDEFGHIJKLMNOPQRSTUVWXYZ"]]
