"""Modules that other installed packages add to the project's own, found by their entry points.

A package declares in its pyproject.toml, for each kind of thing that it adds, the module which defines them:

    [project.entry-points."faultlab.extensions"]
    faults = "my_package.faults"

The module does what the project's own files of that kind do. A registry imports it after those, when it is first read.
"""

import pkgutil
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType

GROUP = "faultlab.extensions"
KINDS = (
    "apis", "brokers", "drivers", "environments", "faults", "levers", "measures", "operations", "profiles", "tables",
)  # fmt: skip
"""What an entry point may be called: the kind of thing that its module defines."""


class ExtensionError(Exception):
    """An installed package extends faultlab in a way that does not work: `problem` says which and why."""

    def __init__(self, entry: EntryPoint, problem: str) -> None:
        package = entry.dist.name if entry.dist is not None else "an unnamed package"
        self.problem = f"{package}: the entry point {entry.name} = {entry.value} of {GROUP} fails: {problem}"
        self.remedy = f"correct {package}, or uninstall it"
        super().__init__(f"{self.problem}; {self.remedy}")


def modules(package: str, kind: str) -> Iterator[ModuleType]:
    """Import every module directly inside `package`, then those that extensions name for this kind.

    Raises ExtensionError, whose cause is what the extension's module raised.
    """
    for info in pkgutil.iter_modules(import_module(package).__path__, f"{package}."):
        yield import_module(info.name)
    yield from extension_modules(kind)


def extension_modules(kind: str) -> Iterator[ModuleType]:
    """Import the modules that extensions name for this kind. Raises ExtensionError."""
    for entry in extensions():
        if entry.name == kind:
            yield _imported(entry)


@cache
def extensions() -> tuple[EntryPoint, ...]:
    """The entry points of every installed package, sorted. Raises ExtensionError where one names no known kind."""
    found = sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value))
    for entry in found:
        if entry.name not in KINDS:
            raise ExtensionError(entry, f"{entry.name} is none of {', '.join(KINDS)}")
    return tuple(found)


def _imported(entry: EntryPoint) -> ModuleType:
    try:
        return import_module(entry.module)
    except Exception as error:
        raise ExtensionError(entry, f"{type(error).__name__}: {error}") from error
