"""What a table of the report is: a name, a sentence, and a pure function from the records to a Spark table.

A new table is one new file in this package that binds `TABLE`; it is found, made and written without further edits.
"""

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import DataFrame

from reports.ingest.records import Records


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """`make` describes the table lazily: it starts no Spark job. `order` names the columns that its rows are sorted by
    once they have left Spark: a few rows are not worth a distributed sort."""

    name: str
    about: str
    order: tuple[str, ...]
    make: Callable[[Records], DataFrame]
