"""What `faultlab explain` can be asked: clients, their faults, and what each costs with the client's defaults."""

from collections.abc import Iterator, Mapping

from rich.text import Text

from cli.show.rows import beside, folded
from client.profiles import profiles
from harness.explaining import Asked, Case, Library, Mistaken, answers, situate


def explainable(libraries: Mapping[str, Library]) -> Iterator[Text]:
    """A block for each client; cases stand below their fault."""
    for client, library in libraries.items():
        releases = profiles()[client].releases
        yield Text(f"{client} {', '.join(releases)}", style="bold").append(
            "   times are by formula, with the client's defaults", style="dim"
        )
        for fault in library.faults:
            yield Text(f"  {fault}")
            for case in library.ranked():
                if fault in case.faults:
                    yield Text("    " + beside(case.name, default_time(case, releases), lead=4))
                    yield folded(case.about, lead="      ", style="dim")
        yield Text()
    first = next(iter(libraries), None)
    if first is not None:
        fault = libraries[first].faults[0]
        yield Text(f"faultlab explain {first}@{profiles()[first].releases[-1]} {fault}")


def default_time(case: Case, releases: tuple[str, ...]) -> str:
    """By the first formula that holds with nothing set, of the newest release that has one."""
    seconds = default_seconds(case, releases)
    return "" if seconds is None else f"{seconds:.3f} s"


def default_seconds(case: Case, releases: tuple[str, ...]) -> float | None:
    """None where no formula holds with nothing set."""
    for release in reversed(releases):
        try:
            holding = answers(situate(case, Asked(version=release, given={})))
        except Mistaken:
            continue
        if holding:
            return holding[0].seconds
    return None
