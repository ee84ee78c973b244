"""Which draws are compared. A draw is rejected where it is no scenario, or where the real client shows that it tests
nothing: its fault met none of the client's traffic. What the profile does is not asked."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from math import ceil
from pathlib import Path

from harness.agreement.samples import CONCLUSIVE
from harness.language import Problems, load
from harness.records.run import RunRecord
from tools.fidelity_random.drawing import Draw

MOST_REJECTED = 0.2
"""Of all draws. With more, what is compared is no longer what was drawn."""

RunReal = Callable[[Sequence[Path], int], Sequence[RunRecord]]
"""One run of the real client in each of these files; the number is that of the round."""


@dataclass(frozen=True, slots=True)
class Screening:
    """`accepted` are files; `rejected` holds the reason of each draw that is not compared, by its name."""

    accepted: tuple[Path, ...]
    rejected: dict[str, str]

    @property
    def enough(self) -> bool:
        return len(self.rejected) <= MOST_REJECTED * (len(self.accepted) + len(self.rejected))

    def lines(self) -> Iterator[str]:
        drawn = len(self.accepted) + len(self.rejected)
        yield f"{drawn} scenarios drawn, {len(self.rejected)} rejected ({MOST_REJECTED:.0%} may be):"
        for reason, times in Counter(self.rejected.values()).most_common():
            names = [name for name, why in self.rejected.items() if why == reason]
            yield f"  {times:3d}  {reason}  ({', '.join(names)})"


def screen(drawn: Iterator[Draw], number: int, folder: Path, run_real: RunReal) -> Screening:
    """Draw until so many are accepted, or more are rejected than may be. Files of rejected draws move to `rejected`."""
    scenarios, rejects = folder / "scenarios", folder / "rejected"
    for each in (scenarios, rejects):
        each.mkdir(parents=True, exist_ok=True)
    accepted: list[Path] = []
    rejected: dict[str, str] = {}
    left, rounds = ceil(number / (1 - MOST_REJECTED)), 0
    while (missing := min(number - len(accepted), left)) > 0:
        left, rounds = left - missing, rounds + 1
        files = {draw.name: draw.write(scenarios) for draw in islice(drawn, missing)}
        reasons = {name: reason for name, path in files.items() if (reason := _refusal(path)) is not None}
        sound = [path for name, path in files.items() if name not in reasons]
        for run in run_real(sound, rounds) if sound else ():
            if run.verdict not in CONCLUSIVE:
                reasons[run.scenario] = reason_of(run)
        for name, path in files.items():
            if name in reasons:
                path.rename(rejects / path.name)
            else:
                accepted.append(path)
        rejected |= reasons
    return Screening(tuple(accepted), rejected)


def _refusal(path: Path) -> str | None:
    """Why the lab takes it for no scenario, None where it does."""
    try:
        load(path)
    except Problems as problems:
        return f"refused: {problems.problems[0].code}"
    return None


def reason_of(run: RunRecord) -> str:
    """Why a run decides nothing, without the names of this scenario."""
    text = run.error.text if run.error is not None else next(iter(run.reasons), run.verdict)
    text = re.sub(r"`[^`]*`(, `[^`]*`| and `[^`]*`)*", "…", " ".join(text.split()))
    return re.sub(r"\d+(\.\d+)?", "N", text)[:120]
