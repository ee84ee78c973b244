"""`faultlab clients`: the real libraries as programs to run scenarios with, and the check of a program of one's own."""

import json as json_module
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, replace
from math import isfinite
from pathlib import Path

import click
from rich.console import Console

from cli.arguments import ANY_PATH, parse_seconds, parse_settings
from cli.errors import CommandError
from cli.exit_codes import ExitCode
from cli.show.formatting import pluralized
from cli.show.rows import wrapped
from cli.suite.obtaining import obtain_for
from cli.suite.results_folders import unused_results_folder
from cli.suite.unavailable import unavailable_error
from cli.terminal.console import columns_of, console
from harness.environments.world import EnvironmentUnavailable
from harness.plan import ClientPlan, ResolvedValue
from harness.quantities import QuantityError, duration_s
from harness.realclients import build as build_all
from harness.realclients import real_clients, select_clients
from harness.subject_checks import CHECKS, CheckResult, CheckTarget, Limits
from harness.subject_checks import check as check_all
from harness.suite.environment_choice import PREFERRED
from harness.suite.machine import timestamp_name

LIMITS = Limits()
"""As they are where the command line says nothing."""


def build(*, names: tuple[str, ...]) -> ExitCode:
    """Build real clients into the user's cache.

    NAMES are clients or releases (sarama, sarama@1.27.2); without any, all are built. Needs Go, or pip to get it (75
    MB); downloads what the library requires. What is built already is left alone.
    """
    screen = console()
    clients = select_clients(names)
    build_all(clients, _progress_printer(screen))
    for client in clients:
        screen.print(f"{client!s:<16}  {client.program}")
    return ExitCode.PASSED


def list_(*, json: bool) -> ExitCode:
    """Name the real clients, and which of them are built."""
    clients = real_clients()
    if json:
        document = [
            {"client": client.name, "version": client.version, "program": str(client.program), "built": client.built}
            for client in clients
        ]
        click.echo(json_module.dumps({"format": 1, "clients": document}, indent=2))
        return ExitCode.PASSED
    screen = console()
    for client in clients:
        screen.print(f"{client!s:<16}  {client.program if client.built else 'not built'}")
    missing = [str(client) for client in clients if not client.built]
    if missing:
        screen.print(f"\n{pluralized(len(missing), 'client')} to build: faultlab clients build {' '.join(missing)}")
    screen.print("\nrun scenarios with them: faultlab run --env local --client real")
    return ExitCode.PASSED


def check(
    *,
    program: tuple[str, ...],
    settings: tuple[str, ...],
    only: tuple[str, ...],
    dark: str,
    patience: str,
    logs: Path | None,
    json: bool,
) -> ExitCode:
    """Check whether a program keeps the subject protocol (docs/SUBJECT_PROTOCOL.md).

    CMD is the program with its arguments, or a real client (sarama@1.27.2). It is started again and again in network
    namespaces of its own with a broker, and is asked to connect, send and close, while the broker is reachable and
    while it is not. A client may wait for the broker: it has to answer once the broker is back. Exits with 1 where it
    breaks the protocol.
    """
    named = tuple(_named(name, text) for name, text in parse_settings(settings).items())
    limits = Limits(dark_s=parse_seconds("--dark", dark), patience_s=parse_seconds("--patience", patience))
    target = CheckTarget(_client(program), named, limits)
    screen = console(json=json)
    width = columns_of(screen)
    findings = []
    kept_in = logs if logs is not None else unused_results_folder(f"check-{timestamp_name()}")
    with tempfile.TemporaryDirectory(prefix="faultlab-check-") as folder:
        for found in _checked(target, Path(folder), only):
            finding = replace(found, text=_with_log_path(found.text, Path(folder), kept_in))
            findings.append(finding)
            style = "" if finding.state == "kept" else "bold red"
            screen.print(
                wrapped(finding.text, lead=f"{finding.state:<8}  {finding.name:<17}  ", style=style, width=width)
            )
            for note in finding.notes:
                screen.print(wrapped(note, lead=f"{'':<10}{'note':<17}  ", style="yellow", width=width))
        broken = sum(finding.state == "not kept" for finding in findings)
        kept = _copy_logs(Path(folder), kept_in) if broken or logs is not None else None
    if json:
        document = {"format": 1, "findings": [asdict(f) for f in findings], "logs": None if kept is None else str(kept)}
        click.echo(json_module.dumps(document, indent=2))
    elif broken:
        said = "it said nothing on stderr" if kept is None else f"what it said on stderr: {kept}"
        screen.print(f"\n{broken} of {pluralized(len(findings), 'promise')} not kept; {said}")
    else:
        screen.print(f"\n{pluralized(len(findings), 'promise')} kept")
    return ExitCode.FAILED if broken else ExitCode.PASSED


def _checked(target: CheckTarget, folder: Path, only: tuple[str, ...]) -> Iterator[CheckResult]:
    """Raises CommandError where real sockets are not available: there is no other environment to choose."""

    obtain_for(PREFERRED)
    try:
        yield from check_all(target, folder, only)
    except EnvironmentUnavailable as refused:
        raise unavailable_error(refused) from refused


def _with_log_path(text: str, folder: Path, wanted: Path) -> str:
    """The text with the place where a log that it names is going to be kept; without it where that log says nothing."""

    def place(named: re.Match[str]) -> str:
        log = folder / named[1]
        return f"; its log: {wanted / log.name}" if log.exists() and log.stat().st_size else ""

    return re.sub(rf"; its log: {re.escape(str(folder))}/(\S+)", place, text)


def _copy_logs(folder: Path, wanted: Path) -> Path | None:
    """Where the logs that say something are now; None where none does. Raises CommandError."""
    found = [log for log in sorted(folder.iterdir()) if log.stat().st_size]
    try:
        for log in found:
            wanted.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(log, wanted / log.name)
    except OSError as error:
        raise CommandError(
            f"cannot keep logs in {wanted}: {error.strerror}", "name a folder with --logs", code=ExitCode.LAB_ERROR
        ) from error
    return wanted if found else None


def _client(program: tuple[str, ...]) -> ClientPlan:
    real = next((client for client in real_clients() if program == (str(client),)), None)
    if real is not None:
        return ClientPlan(name=real.name, version=real.version, argv=(str(real.found()),))
    found = shutil.which(program[0])
    if found is None:
        here = shutil.which(f"./{program[0]}")
        remedy = f"write ./{program[0]}" if here else "name it as you would start it from here; is it executable?"
        raise CommandError(f"there is no program {program[0]}", remedy)
    return ClientPlan(name=Path(program[0]).name, version="", argv=(str(Path(found).absolute()), *program[1:]))


def _named(name: str, text: str) -> ResolvedValue:
    """A setting of the user's program: its type is guessed from its text."""
    if text in ("true", "false"):
        return ResolvedValue(name=name, text=text, unit="bool", value=float(text == "true"))
    with suppress(ValueError):
        if isfinite(float(text)):
            return ResolvedValue(name=name, text=text, unit="count", value=float(text))
    with suppress(QuantityError):
        return ResolvedValue(name=name, text=text, unit="s", value=duration_s(text))
    return ResolvedValue(name=name, text=text, unit="text")


def _progress_printer(screen: Console) -> Callable[[str], None]:
    return lambda line: screen.print(wrapped(line, lead="", style="dim", width=columns_of(screen)))


command = click.Group(
    "clients",
    help="Real client libraries, and the check of a program of yours.",
    commands=[
        click.Command(
            "build",
            callback=build,
            help=build.__doc__,
            params=[click.Argument(["names"], nargs=-1, metavar="[NAMES]...")],
        ),
        click.Command(
            "list",
            callback=list_,
            help=list_.__doc__,
            params=[click.Option(["--json"], is_flag=True, help="One JSON document on stdout.")],
        ),
        click.Command(
            "check",
            callback=check,
            help=check.__doc__,
            # What follows the program's name is the program's.
            context_settings={"allow_interspersed_args": False},
            params=[
                click.Argument(["program"], nargs=-1, required=True, type=click.UNPROCESSED, metavar="CMD..."),
                click.Option(
                    ["--set", "settings"], multiple=True, metavar="NAME=VALUE", help="A setting of the client: time=2s."
                ),
                click.Option(
                    ["--only"], multiple=True, type=click.Choice(list(CHECKS)), metavar="NAME", help="Only this check."
                ),
                click.Option(
                    ["--dark"],
                    default=f"{LIMITS.dark_s:g}s",
                    show_default=True,
                    metavar="TIME",
                    help="How long the broker is unreachable where nothing is answered.",
                ),
                click.Option(
                    ["--patience"],
                    default=f"{LIMITS.patience_s:g}s",
                    show_default=True,
                    metavar="TIME",
                    help="How long an answer may take while the broker is reachable.",
                ),
                click.Option(
                    ["--logs"],
                    type=ANY_PATH,
                    metavar="DIR",
                    help="Keep the program's stderr there; else below results/, and only if a check fails.",
                ),
                click.Option(["--json"], is_flag=True, help="One JSON document on stdout."),
            ],
        ),
    ],
)
