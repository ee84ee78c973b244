"""Suggestions for names that do not exist."""

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`did you mean X?` for the nearest known word, else the known words if they are few, else an empty text."""
    names = list(known)
    near = get_close_matches(word, names, n=1, cutoff=0.6)
    if not near:
        folded = {name.casefold(): name for name in names}
        near = [folded[fold] for fold in get_close_matches(word.casefold(), folded, n=1, cutoff=0.6)]
    if near:
        return f"did you mean {near[0]}?"
    return f"one of {', '.join(names)}" if 0 < len(names) <= 12 else ""
