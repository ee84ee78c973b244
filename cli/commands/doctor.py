"""`faultlab doctor`: what this machine can do, what is missing, and how to get it."""

import json as json_module
import os
import platform
from collections.abc import Iterator
from dataclasses import asdict
from importlib.metadata import version
from importlib.util import find_spec

import click

from cli.ci import System, detect_system, summary_write_error
from cli.exit_codes import ExitCode
from cli.show.rows import wrapped
from cli.terminal.console import columns_of, console
from harness.environments.local.doctor import DoctorFinding, findings
from harness.realclients import real_clients
from reports import NEEDED, JavaMissing
from reports.errors import install_command

MARKS = {
    System.GITHUB: "groups, annotations",
    System.GITLAB: "sections that fold, a line for each failure",
    System.OTHER: "headings, a line and an annotation for each failure",
}
"""What `--ci` writes into the log of each system."""
STYLES = {"ok": "green", "note": "yellow", "missing": "bold red"}


def doctor(*, json: bool) -> ExitCode:
    """Try everything that runs and reports need, and say what is missing and how to get it.

    Exits with 3 where the environment `local` cannot run here.
    """
    of_local = findings()
    found = [_python(), *of_local, _real_clients(), *_report(), *_ci()]
    able = all(finding.state != "missing" for finding in of_local)
    if json:
        document = {"format": 1, "local": able, "findings": [asdict(finding) for finding in found]}
        click.echo(json_module.dumps(document, indent=2))
        return ExitCode.PASSED if able else ExitCode.LAB_ERROR
    screen = console()
    for finding in found:
        lead = f"{finding.state:<8} {finding.name:<13} "
        screen.print(wrapped(finding.text, lead=lead, style=STYLES[finding.state], width=columns_of(screen)))
        if finding.remedy is not None:
            screen.print(wrapped(finding.remedy, lead=f"{'':<22} remedy: ", width=columns_of(screen)))
    screen.print()
    screen.print(
        "local runs here: --env auto takes it" if able else "local cannot run here: --env auto takes sim",
        style="bold",
    )
    return ExitCode.PASSED if able else ExitCode.LAB_ERROR


def _python() -> DoctorFinding:
    return DoctorFinding(name="python", state="ok", text=f"{platform.python_version()}, faultlab {version('faultlab')}")


def _real_clients() -> DoctorFinding:
    """Real clients are built on request only."""
    missing = [str(client) for client in real_clients() if not client.built]
    if missing:
        remedy = f"faultlab clients build {' '.join(missing)}"
        return DoctorFinding(name="real clients", state="note", text=f"not built: {', '.join(missing)}", remedy=remedy)
    return DoctorFinding(name="real clients", state="ok", text=", ".join(map(str, real_clients())))


def _report() -> Iterator[DoctorFinding]:
    """Reports are an extra: runs need none of it."""
    lacking = [name for name in NEEDED if find_spec(name) is None]
    if lacking:
        text = f"reports cannot be made: {', '.join(lacking)} not installed"
        yield DoctorFinding(name="report", state="note", text=text, remedy=install_command())
        return
    from reports.jvm.class_archive import class_archive_for
    from reports.jvm.runtime import find_java

    yield DoctorFinding(name="report", state="ok", text=f"pyspark {version('pyspark')}")
    try:
        java = find_java()
    except JavaMissing as missing:
        yield DoctorFinding(name="java", state="note", text=missing.text, remedy=missing.remedy)
        return
    archive = class_archive_for(java).lacking or "class archive made"
    yield DoctorFinding(name="java", state="ok", text=f"{java}; {archive}")


def _ci() -> Iterator[DoctorFinding]:
    """What `--ci` will do here; nothing outside of CI."""
    system = detect_system()
    if system is System.OTHER and not os.environ.get("CI"):
        return
    wrong = summary_write_error()
    if wrong is not None:
        remedy = "let it name a file, or unset it"
        yield DoctorFinding(
            name="ci", state="note", text=f"{system.value}: {wrong}: no summary of the job", remedy=remedy
        )
        return
    summary = ", a summary of the job" if os.environ.get("GITHUB_STEP_SUMMARY") else ""
    yield DoctorFinding(
        name="ci", state="ok", text=f"{system.value}: {MARKS[system]}{summary}, JUnit XML beside results"
    )


command = click.Command(
    "doctor",
    callback=doctor,
    help=doctor.__doc__,
    params=[click.Option(["--json"], is_flag=True, help="One JSON document on stdout.")],
)
