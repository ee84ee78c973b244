"""`faultlab init`: a program and a scenario to begin with, for a producer of one's own under test."""

import shlex
from pathlib import Path

import click

from cli.arguments import FOLDER
from cli.errors import CommandError
from cli.exit_codes import ExitCode
from cli.show.rows import wrapped
from cli.terminal.console import console
from harness.realclients.templates import TEMPLATES, make_template


def init(*, client: str, folder: Path) -> ExitCode:
    """Write a program and a scenario that run at once: the place to start with your own producer.

    They go into DIR; files that are there are never changed.
    """
    template = make_template(client)
    there = [path for path in template.files if (folder / path).exists()]
    if there:
        names = ", ".join(str(folder / path) for path in there)
        raise CommandError(f"{names} would be overwritten: nothing was written", "name another folder")
    try:
        for path, file in template.files.items():
            place = folder / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(file.text, encoding="utf-8")
            if file.executable:
                place.chmod(0o755)
    except OSError as error:
        raise CommandError(f"{folder} cannot be written: {error.strerror}", "name another folder") from error
    screen = console()
    for path in template.files:
        screen.print(str(folder / path))
    screen.print()
    steps = [*([f"cd {shlex.quote(str(folder))}"] if folder != Path() else []), *template.steps]
    for number, line in enumerate("\n".join(steps).splitlines()):
        screen.print(f"{'then' if number == 0 else '':<5} {line}")
    for note in template.notes:
        screen.print(wrapped(note, lead="note  "))
    return ExitCode.PASSED


command = click.Command(
    "init",
    callback=init,
    help=init.__doc__,
    params=[
        click.Option(
            ["--client"],
            type=click.Choice(list(TEMPLATES)),
            required=True,
            help="The library that the program uses; python is kafka-python, go is sarama.",
        ),
        click.Argument(["folder"], type=FOLDER, default=Path("my-client"), metavar="[DIR]"),
    ],
)
