"""One file per table of the report, found by looking at this package."""

import importlib
import pkgutil

from reports.tables.base import Table


def all_tables() -> tuple[Table, ...]:
    """The tables of this package by name."""
    modules = [importlib.import_module(f"{__name__}.{found.name}") for found in pkgutil.iter_modules(__path__)]
    tables = [module.TABLE for module in modules if hasattr(module, "TABLE")]
    return tuple(sorted(tables, key=lambda table: table.name))
