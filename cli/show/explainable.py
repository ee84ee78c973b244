"""What `faultlab explain` can be asked: clients, their faults, and what each costs with the client's defaults."""

from collections.abc import Iterable, Iterator, Mapping

from rich.text import Text

from cli.show.figures import WIDTH
from cli.show.rows import beside, folded
from client.profiles import profiles
from harness.explaining import Asked, Case, Library, Mistaken, answers, situate

COLUMN = 12
"""Columns of a release's times."""


def explainable(libraries: Mapping[str, Library]) -> Iterator[Text]:
    """A block for each client; cases stand below their fault, with a column for each release."""
    example = None
    for client, library in libraries.items():
        releases = profiles()[client].releases
        head = Text(client, style="bold").append("   time by formula, with the client's defaults", style="dim")
        columns = _columns(releases)
        yield head.append(columns.rjust(WIDTH - head.cell_len), style="bold")
        for fault in library.faults:
            yield Text(f"  {fault}")
            for case in library.ranked():
                if fault in case.faults:
                    times = by_default(case, releases)
                    figures = _columns("" if times[r] is None else f"{times[r]:.3f} s" for r in releases)
                    yield Text("    " + beside(case.name, figures, lead=4))
                    yield folded(case.about, lead="      ", style="dim")
                    answered = [release for release in releases if times[release] is not None]
                    if example is None and answered:
                        example = f"{client}@{answered[-1]} {fault}"
        yield Text()
    if example is not None:
        yield Text(f"faultlab explain {example}")


def by_default(case: Case, releases: tuple[str, ...]) -> dict[str, float | None]:
    """Seconds by the formula that holds with nothing set, of each release; None where none does."""
    found: dict[str, float | None] = {}
    for release in releases:
        try:
            holding = answers(situate(case, Asked(version=release, given={})))
        except Mistaken:
            holding = ()
        found[release] = holding[0].seconds if holding else None
    return found


def _columns(texts: Iterable[str]) -> str:
    return "".join(text.rjust(COLUMN) for text in texts)
