"""Makes docs/EXTENDING.md from the registries: `.venv/bin/python tools/extending.py` writes it."""

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from textwrap import fill

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "EXTENDING.md"
EXAMPLE = "tests/extending/example"
WIDTH = 120


def _registry(module: str, name: str) -> Callable[[], Iterable[str]]:
    return lambda: list(getattr(import_module(module), name))


def _apis() -> Iterable[str]:
    from harness.brokers.embedded.handlers import handlers

    return [handler.api.name for handler in handlers().values()]


def _environments() -> Iterable[str]:
    from harness.environments.registry import environment_names

    return environment_names()


def _profiles() -> Iterable[str]:
    from client.profiles import profiles

    return profiles()


def _tables() -> Iterable[str]:
    from reports.tables import all_tables

    return [table.name for table in all_tables()]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """`kind` is the entry point's name, `write` what its file holds, `registered` lists the names."""

    kind: str
    title: str
    file: str
    write: str
    contract: str
    registered: Callable[[], Iterable[str]]
    example: str


KINDS = (
    Kind(
        kind="faults",
        title="A fault",
        file="harness/faults/<name>.py",
        write='A `FaultModel` with `@fault("<name>")`: its parameters as fields, `stages`, which turns them into'
        " levers, `proof`, the kind of evidence without which a run is inconclusive, `beforehand` where levers are"
        " pulled before the client starts, and `mutes = True` where brokers answer nothing. docs/FAULTS.md, the"
        " JSON Schema and `faultlab validate` follow from it.",
        contract="harness/faults/base.py",
        registered=_registry("harness.faults", "FAULTS"),
        example="harness/faults/silence.py",
    ),
    Kind(
        kind="levers",
        title="A lever",
        file="harness/levers/<name>.py",
        write='A `Lever` with `@lever("<name>")`, and an `Evidence` where none of those that exist fits. Each'
        " environment that can pull it has a function in its table (`@SIM_LEVERS.pulls(...)`, `@LINUX_LEVERS.pulls"
        "(...)`); the others refuse scenarios that need it.",
        contract="harness/levers/base.py, harness/environments/lever_table.py",
        registered=_registry("harness.levers", "LEVERS"),
        example="harness/levers/listener.py",
    ),
    Kind(
        kind="operations",
        title="An operation",
        file="harness/operations/<name>.py",
        write="An `Operation`, registered: the command of the subject protocol, its arguments, the fields of its result"
        " and its traits. A profile carries it out in a handler of the same name.",
        contract="harness/operations/base.py, client/operations/base.py",
        registered=_registry("harness.operations", "OPERATIONS"),
        example="harness/operations/send.py",
    ),
    Kind(
        kind="measures",
        title="A measure",
        file="harness/measures/<name>.py",
        write="A function from a run (`RunView`) to a value, with `@measure(...)`; its name is the measure's.",
        contract="harness/measures/base.py",
        registered=_registry("harness.measures", "MEASURES"),
        example="harness/measures/time_to_ack.py",
    ),
    Kind(
        kind="profiles",
        title="A profile of a client",
        file="client/profiles/<name>/__init__.py",
        write="A `PROFILE`: its settings, the releases that it reproduces, and `open`, which gives a session with one"
        " handler for each operation.",
        contract="client/profiles/contract.py",
        registered=_profiles,
        example="client/profiles/sarama/__init__.py",
    ),
    Kind(
        kind="apis",
        title="An API of the embedded broker",
        file="harness/brokers/embedded/apis/<name>.py",
        write="A coroutine function with `@handles(...)`, and the API's messages as an `Api`"
        " (`client/wire/apis/<name>.py`).",
        contract="harness/brokers/embedded/handlers.py, client/wire/api.py",
        registered=_apis,
        example="harness/brokers/embedded/apis/init_producer_id.py",
    ),
    Kind(
        kind="brokers",
        title="A kind of brokers",
        file="harness/brokers/kinds/<name>.py",
        write="A `ClusterKind`, added to `CLUSTER_KINDS`. Environments start it behind `BrokerCluster`.",
        contract="harness/brokers/kind.py, harness/brokers/cluster.py",
        registered=_registry("harness.brokers.kind", "CLUSTER_KINDS"),
        example="harness/brokers/kinds/embedded.py",
    ),
    Kind(
        kind="environments",
        title="An environment",
        file="harness/environments/<name>/environment.py",
        write='An `Environment` with `@register("<name>")`: a context manager that carries plans into worlds.',
        contract="harness/environments/world.py, harness/environments/registry.py",
        registered=_environments,
        example="harness/environments/sim/environment.py",
    ),
    Kind(
        kind="drivers",
        title="A driver",
        file="harness/drivers/<name>.py",
        write='A function with `@driver("<name>")` from a plan to the program that a world starts.',
        contract="harness/drivers/base.py",
        registered=_registry("harness.drivers", "DRIVERS"),
        example="harness/drivers/exec.py",
    ),
    Kind(
        kind="tables",
        title="A table of the report",
        file="reports/tables/<name>.py",
        write="A `TABLE`: a function from the records to a Spark DataFrame, and the order of its rows.",
        contract="reports/tables/base.py",
        registered=_tables,
        example="reports/tables/quarantined.py",
    ),
)

HEAD = f"""\
# Extending

This page is made from the registries by `tools/extending.py`; a test fails where the two differ.

Each kind of thing below is one new file and its test. No other file has to be edited: a registry imports every module
of its package when it is first read.

## From a package of your own

A registry then imports the modules that other installed packages name in entry points. Such a module does what the
project's own files of that kind do. A package names one module for each kind that it adds:

```toml
{{entry_points}}```

A package that fails to import, or that takes a name which is taken, is named in the error, and nothing runs.
[{EXAMPLE}](../{EXAMPLE}) is such a package: one thing of every kind but drivers and
brokers, and a scenario that uses them all.

"""
TAIL = """\
## Other files

| to add | write | contract |
| --- | --- | --- |
| a scenario | `scenarios/<client>/<name>.scenario.yaml`, or a file anywhere | `faultlab schema`, `faultlab validate` |
| a named formula | an entry of `scenarios/<client>/formulas.yaml`, or of formulas.yaml beside your scenario. Scenarios cite it: `equals: formula(<name>)`. It is looked for beside the scenario first, then among those bundled for the client. `faultlab explain` explains the faults of bundled scenarios that cite one | harness/language/formulas_file.py |
| a distribution | an entry under `distributions:` of `scenarios/<client>/formulas.yaml`: what is drawn, how likely each value is, and how the call ends for it. It names the bundled scenario that makes it happen; `faultlab explain <client> bootstrap` compares it with many seeds | harness/formulas/distribution.py |
| an explained difference between a profile and its real client | an entry of `scenarios/<client>/differences.yaml`, with the line of source that makes it | harness/agreement/known_differences.py |
| a release of a real client | `realclients/<name>/releases/<version>.mod` and `.sum`; a new client: its folder, around `realclients/subject` | harness/realclients/catalogue.py |
| a promise of the subject protocol | a check in `harness/subject_checks/checks.py` | harness/subject_checks/context.py |
| a benchmark | `bench/<name>.py` with `main(arguments)`; `make bench` runs it | bench/__init__.py |
| a story | `docs/stories/<name>.md`, its console blocks and pictures made by `tools/stories.py` | tools/stories.py |

Your own program as the client under test: `faultlab init --client kafka-python` (or another) writes one to begin with, and
`faultlab clients check ./mine` says what it does not keep of docs/SUBJECT_PROTOCOL.md; in the scenario it is
`driver: {exec: [./mine]}`.
"""  # noqa: E501  (rows of a table)


def page() -> str:
    """The whole page. Raises ExtensionError where an installed package fails."""
    project = (ROOT / EXAMPLE / "pyproject.toml").read_text(encoding="utf-8")
    start = project.index("[project.entry-points")
    entry_points = project[start : project.index("\n\n", start) + 1]
    return HEAD.replace("{entry_points}", entry_points) + "".join(map(_section, KINDS)) + TAIL


def _section(kind: Kind) -> str:
    outside = f"{EXAMPLE}/faultlab_example/{kind.kind}.py"
    examples = [kind.example, *([outside] if (ROOT / outside).exists() else [])]
    names = ", ".join(f"`{name}`" for name in kind.registered())
    lines = [
        f"`{kind.file}`, or an entry point `{kind.kind}`. {kind.write}",
        f"- contract: {kind.contract}",
        f"- examples: {', '.join(examples)}",
        f"- registered: {names}",
    ]
    first, *others = map(_filled, lines)
    return "\n".join([f"## {kind.title}\n", f"{first}\n", *others, "\n"])


def _filled(line: str) -> str:
    indent = "  " if line.startswith("- ") else ""
    return fill(line, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def main() -> int:
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
