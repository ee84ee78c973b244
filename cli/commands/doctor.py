"""`faultlab doctor`: what this machine can do, what is missing, and how to get it."""

import json as json_module
import os
import platform
from collections.abc import Iterator
from dataclasses import asdict
from importlib.metadata import version
from importlib.util import find_spec

import click

from cli.ci import System, this_system, unwritable
from cli.console import console
from cli.exits import Exit
from cli.show.rows import folded
from harness.environments.local.doctor import Finding, findings
from harness.realclients import real_clients
from reports import NEEDED, JavaMissing
from reports.errors import extra

MARKS = {
    System.GITHUB: "groups, annotations",
    System.GITLAB: "sections that fold, a line for each failure",
    System.OTHER: "headings, a line and an annotation for each failure",
}
"""What `--ci` writes into the log of each system."""
STYLES = {"ok": "green", "note": "yellow", "missing": "bold red"}


def doctor(*, json: bool) -> Exit:
    """Try everything that runs and reports need, and say what is missing with its remedy.

    Exits with 3 where the environment `local` cannot run here.
    """
    of_local = findings()
    found = [_python(), *of_local, _real_clients(), *_report(), *_ci()]
    able = all(finding.state != "missing" for finding in of_local)
    if json:
        told = {"format": 1, "local": able, "findings": [asdict(finding) for finding in found]}
        click.echo(json_module.dumps(told, indent=2))
        return Exit.PASSED if able else Exit.LAB
    screen = console()
    for finding in found:
        screen.print(folded(finding.text, lead=f"{finding.state:<8} {finding.name:<13} ", style=STYLES[finding.state]))
        if finding.remedy is not None:
            screen.print(folded(finding.remedy, lead=f"{'':<22} remedy: "))
    screen.print()
    screen.print(
        "local runs here: --env auto takes it" if able else "local cannot run here: --env auto takes sim",
        style="bold",
    )
    return Exit.PASSED if able else Exit.LAB


def _python() -> Finding:
    return Finding(name="python", state="ok", text=f"{platform.python_version()}, faultlab {version('faultlab')}")


def _real_clients() -> Finding:
    """Built only where somebody asks for them."""
    missing = [str(client) for client in real_clients() if not client.built]
    if missing:
        remedy = f"faultlab clients build {' '.join(missing)}"
        return Finding(name="real clients", state="note", text=f"not built: {', '.join(missing)}", remedy=remedy)
    return Finding(name="real clients", state="ok", text=", ".join(map(str, real_clients())))


def _report() -> Iterator[Finding]:
    """Reports are an extra: what they lack keeps no run from being made."""
    lacking = [name for name in NEEDED if find_spec(name) is None]
    if lacking:
        text = f"reports cannot be made: {', '.join(lacking)} not installed"
        yield Finding(name="report", state="note", text=text, remedy=extra())
        return
    from reports.jvm.archive import archive_for
    from reports.jvm.runtime import find_java

    yield Finding(name="report", state="ok", text=f"pyspark {version('pyspark')}")
    try:
        java = find_java()
    except JavaMissing as missing:
        yield Finding(name="java", state="note", text=missing.text, remedy=missing.remedy)
        return
    archive = archive_for(java).lacking or "class archive made"
    yield Finding(name="java", state="ok", text=f"{java}; {archive}")


def _ci() -> Iterator[Finding]:
    """What `--ci` will do here; nothing outside of CI."""
    system = this_system()
    if system is System.OTHER and not os.environ.get("CI"):
        return
    wrong = unwritable()
    if wrong is not None:
        remedy = "let it name a file, or unset it"
        yield Finding(name="ci", state="note", text=f"{system.value}: {wrong}: no summary of the job", remedy=remedy)
        return
    summary = ", a summary of the job" if os.environ.get("GITHUB_STEP_SUMMARY") else ""
    yield Finding(name="ci", state="ok", text=f"{system.value}: {MARKS[system]}{summary}, JUnit XML beside results")


command = click.Command(
    "doctor",
    callback=doctor,
    help=doctor.__doc__,
    params=[click.Option(["--json"], is_flag=True, help="One JSON document on stdout.")],
)
