"""One file per table of the report, found by looking at this package."""

from client.extensions import modules
from reports.tables.base import Table


def all_tables() -> tuple[Table, ...]:
    """The tables of this package and those of extensions, by name."""
    tables = [module.TABLE for module in modules(__name__, "tables") if hasattr(module, "TABLE")]
    return tuple(sorted(tables, key=lambda table: table.name))
