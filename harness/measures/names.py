"""A measure's name in a scenario, taken apart: `probe.time_to_error`, `probe.waits(Net.ReadTimeout)`."""

import re
from functools import lru_cache
from typing import NamedTuple

WHOLE_RUN = "run"
"""The alias of the whole run: `run.zombies`."""


class MeasureName(NamedTuple):
    """`alias` is the step that the measure is taken of, or `run`; `argument` is the text in brackets."""

    alias: str
    measure: str
    argument: str | None = None

    def __str__(self) -> str:
        return f"{self.alias}.{self.measure}" + (f"({self.argument})" if self.argument is not None else "")


_SPELLING = re.compile(r"(?P<alias>[^\s.()]+)\.(?P<measure>\w+)(?:\(\s*(?P<argument>[^()]*?)\s*\))?")


@lru_cache(maxsize=1024)
def parse(text: str) -> MeasureName:
    """Take a measure's name apart. Raises ValueError where it is not of the form `<step>.<measure>[(<setting>)]`."""
    found = _SPELLING.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{text!r} is not spelt <step>.<measure> or <step>.<measure>(<setting>)")
    return MeasureName(found["alias"], found["measure"], found["argument"])
