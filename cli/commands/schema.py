"""`faultlab schema`: JSON Schemas, for editors of scenarios and readers of records."""

import json

import click

from cli.exit_codes import ExitCode
from harness.language import json_schema
from harness.records.schema import RECORDS
from harness.records.schema import json_schema as record_schema

SCENARIO = "scenario"


def schema(*, what: str) -> ExitCode:
    """Print the JSON Schema of scenario files, or of a kind of record (docs/RUN_FORMAT.md)."""
    made = json_schema() if what == SCENARIO else record_schema(what)
    click.echo(json.dumps(made, indent=2, ensure_ascii=False))
    return ExitCode.PASSED


command = click.Command(
    "schema",
    callback=schema,
    help=schema.__doc__,
    params=[click.Argument(["what"], type=click.Choice([SCENARIO, *RECORDS]), default=SCENARIO)],
)
