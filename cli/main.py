"""The entry point: finds commands, and turns whatever goes wrong into one message and an exit code."""

import atexit
import errno
import gc
import importlib
import io
import os
import pkgutil
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from cli import commands
from cli.command_help import read_command_help
from cli.early_interrupt import command_begins
from cli.errors import CommandError, annotate_errors, print_error, print_internal_error
from cli.exit_codes import ExitCode
from cli.terminal.safe_text import safe_streams

GARBAGE_THRESHOLD = 10_000
"""Objects that a command may leave before Python searches for cyclic garbage. There is little, and at Python's own 700
the searches took a tenth of the time of a simulated suite."""

OUTPUT_FAILED = "what there is to say cannot be written: {}\n  make room, or let it go elsewhere"


class Commands(click.Group):
    """Commands by the names of their files; a file is imported when its command is asked for."""

    def list_commands(self, context: click.Context) -> list[str]:
        return sorted(module.name.replace("_", "-") for module in pkgutil.iter_modules(commands.__path__))

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in self.list_commands(context):
            return None
        module = importlib.import_module(f"{commands.__name__}.{name.replace('-', '_')}")
        command: click.Command = module.command
        command_begins()
        return command

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Names and one line each, without importing what all of them need."""
        names = self.list_commands(context)
        room = formatter.width - 6 - max(map(len, names))
        with formatter.section("Commands"):
            formatter.write_dl([(name, self.listed_command(context, name).get_short_help_str(room)) for name in names])

    def listed_command(self, context: click.Context, name: str) -> click.Command:
        """The command, or a placeholder with its name and help, for the list of commands."""
        text = read_command_help(Path(*commands.__path__) / f"{name.replace('-', '_')}.py")
        return click.Command(name, help=text) if text else self.get_command(context, name) or click.Command(name)


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
    epilog="Exit codes: 0 passed, 1 an expectation failed, 2 inconclusive, 3 the lab failed, 4 wrong usage or scenario,"
    " 5 nothing selected, 10 worse than the baseline, 130 interrupted.",
)
@click.version_option(package_name="faultlab", prog_name="faultlab")
def faultlab() -> None:
    """Fault-injection tests for Kafka clients: how long does a send hang, which error comes back, and does the
    formula hold?"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command. The exit code, for `sys.exit`."""
    gc.set_threshold(GARBAGE_THRESHOLD)
    atexit.register(gc.freeze)  # what is left then goes with the process: it need not be searched for garbage
    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without ≠ shows a question mark, not a traceback
    annotate_errors.set("--ci" in (sys.argv[1:] if arguments is None else arguments))
    with safe_streams():
        return _exit_code(arguments)


def _exit_code(arguments: Sequence[str] | None) -> int:
    try:
        code = _run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_stdout()
        return ExitCode.BROKEN_PIPE
    except OSError as error:
        _drop_stdout()
        print_error(OUTPUT_FAILED.format(error.strerror))
        return ExitCode.LAB_ERROR
    return code


def _open_closed_streams() -> None:
    """A stream that was closed before the start is None: what is written to it is discarded."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115  (open to the end)


def _run(arguments: Sequence[str] | None) -> int:
    try:
        code = faultlab.main(arguments, prog_name="faultlab", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return ExitCode.USAGE
    except click.UsageError as error:
        usage = f"\n  {error.ctx.get_usage()}\n  {error.ctx.command_path} --help explains" if error.ctx else ""
        print_error(f"{error.format_message()}{usage}")
        return ExitCode.USAGE
    except click.ClickException as error:
        print_error(error.format_message())
        return error.code if isinstance(error, CommandError) else ExitCode.USAGE
    except (click.Abort, KeyboardInterrupt):
        print_error("interrupted")
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        raise
    except Exception as error:  # noqa: BLE001  (the last place that can turn a bug into a message)
        known = _expected_error(error)
        if known is None:
            print_internal_error(error)
            return ExitCode.LAB_ERROR
        print_error(f"{known[0]}\n  {known[1]}" if known[1] else known[0])
        return known[2]
    return code if isinstance(code, int) else ExitCode.PASSED


def _expected_error(error: Exception) -> tuple[str, str, ExitCode] | None:
    """Problem, remedy and code of the errors that rooms raise for bad input or a machine that cannot do it."""
    from client.extensions import ExtensionError
    from harness.agreement.known_differences import DifferencesUnreadable
    from harness.environments.world import EnvironmentUnavailable
    from harness.realclients import RealClientMissing, UnknownRealClient
    from harness.records.folder import RecordsError, ResultsUnwritable
    from harness.suite.collection import ScenarioNotFound
    from harness.suite.resuming import CannotResume

    match error:
        case FileNotFoundError() if _working_directory_is_gone():
            return "the folder that this was started in is gone", "go to one that is there: cd", ExitCode.USAGE
        case OSError(errno=errno.ENOSPC | errno.EDQUOT, filename=None):
            return OUTPUT_FAILED.format(error.strerror), "", ExitCode.LAB_ERROR
        case ResultsUnwritable():
            return error.problem, error.remedy, ExitCode.LAB_ERROR
        case RecordsError() | ScenarioNotFound() | CannotResume() | DifferencesUnreadable() | ExtensionError():
            return error.problem, error.remedy, ExitCode.USAGE
        case UnknownRealClient():
            return error.reason, error.remedy, ExitCode.USAGE
        case EnvironmentUnavailable() | RealClientMissing():
            return error.reason, error.remedy, ExitCode.LAB_ERROR
        case _:
            return None


def _working_directory_is_gone() -> bool:
    try:
        Path.cwd()
    except FileNotFoundError:
        return True
    return False


def _drop_stdout() -> None:
    """The reader has gone: what is still buffered must not fail again while Python exits."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
