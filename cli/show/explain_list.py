"""What `faultlab explain` can be asked: clients, their faults, and what each costs with the client's defaults."""

from collections.abc import Iterable, Iterator, Mapping

from rich.text import Text

from cli.show.order import fault_rank
from cli.show.rows import right_aligned, wrapped
from client.profiles import profiles
from harness.explaining import (
    BOOTSTRAP,
    CaseCatalogue,
    ExplainableCase,
    InvalidQuestion,
    Question,
    configure_assuming,
    predictions,
)

COLUMN = 12
"""Columns of a release's times."""


def case_list_text(case_catalogues: Mapping[str, CaseCatalogue], *, width: int) -> Iterator[Text]:
    """A block for each client; cases stand below their fault, with a column for each release."""
    example = None
    for client, library in case_catalogues.items():
        releases = profiles()[client].releases
        head = Text(client, style="bold").append("   times by formula at the defaults", style="dim")
        columns = _columns(releases)
        yield head.append(columns.rjust(width - head.cell_len), style="bold")
        for fault in sorted(library.faults, key=lambda fault: fault_rank([fault])):
            yield Text(f"  {fault}")
            for case in library.ranked():
                if fault in case.faults:
                    times = default_seconds(case, releases)
                    figures = _columns("" if times[r] is None else f"{times[r]:.3f} s" for r in releases)
                    yield Text("    " + right_aligned(case.name, figures, lead=4, width=width))
                    yield wrapped(case.about, lead="      ", style="dim", width=width)
                    answered = [release for release in releases if times[release] is not None]
                    if example is None and answered:
                        example = f"{client}@{answered[-1]} {fault}"
        for one in library.by_chance:
            faults = ", ".join(one.case.faults) or BOOTSTRAP
            yield Text(f"  {faults}").append("   decided by chance", style="dim")
            yield Text(f"    {one.case.name}")
            yield wrapped(one.distribution.about, lead="      ", style="dim", width=width)
        yield Text()
    if example is not None:
        yield Text(f"faultlab explain {example}")


def default_seconds(case: ExplainableCase, releases: tuple[str, ...]) -> dict[str, float | None]:
    """Seconds by the formula that holds with nothing set but what the case assumes, of each release; None where none
    does."""
    found: dict[str, float | None] = {}
    for release in releases:
        try:
            holding = predictions(configure_assuming(case, Question(version=release, given={})).configured_case)
        except InvalidQuestion:
            holding = ()
        found[release] = holding[0].seconds if holding else None
    return found


def _columns(texts: Iterable[str]) -> str:
    return "".join(text.rjust(COLUMN) for text in texts)
