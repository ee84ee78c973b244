"""Short names of settings and parameters: one rule for the terminal, the page and the documents.

The id of a case is not shortened: it must not depend on which other settings are in play.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

KINDS = ("settings", "cluster", "client")
"""Parts of a scenario whose keys are clear without the part's name."""
UNITS = ("ms", "bytes", "kbytes")
"""Last words of a setting's name that are a unit, as in Java's `request.timeout.ms`."""
MIN_WORDS = 2
"""Words of a short name, not counting its unit: `Backoff` or `timeout` alone says too little."""


def without_kind(name: str) -> str:
    """`Producer.Retry.Max` of `settings.Producer.Retry.Max`; the alias of a fault or an operation stays."""
    kind, _, rest = name.partition(".")
    return rest if rest and kind in KINDS else name


def short_names(settings: Iterable[str]) -> Mapping[str, str]:
    """Each setting's shortest dotted end of at least two words and a unit that no other of these settings has.

    `Retry.Max` of `Producer.Retry.Max` alone; both in full where `Metadata.Retry.Max` is there too.
    """
    names = tuple(dict.fromkeys(settings))
    shared = Counter(end for name in names for end in _ends(name))
    return {name: next((end for end in _ends(name) if shared[end] == 1), name) for name in names}


def subject_word(setting: str) -> str:
    """The last word of a setting's name that is not a unit: `timeout` of `request.timeout.ms`."""
    *before, last = setting.split(".")
    return before[-1] if before and last in UNITS else last


def parameters_text(parameters: Sequence[tuple[str, str]]) -> str:
    """`Retry.Max=1 brokers=3 bootstrap=1,2,3` of (name, text); empty without parameters."""
    settings = (without_kind(name) for name, _ in parameters if name.startswith("settings."))
    short = {f"settings.{name}": end for name, end in short_names(settings).items()}
    values = ((name, text.strip("[]").replace(", ", ",")) for name, text in parameters)
    return " ".join(f"{short.get(name) or without_kind(name)}={text}" for name, text in values)


def _ends(name: str) -> list[str]:
    """The dotted ends that may stand for a name, the shortest first."""
    words = name.split(".")
    least = min(MIN_WORDS + (words[-1] in UNITS), len(words))
    return [".".join(words[-count:]) for count in range(least, len(words) + 1)]
