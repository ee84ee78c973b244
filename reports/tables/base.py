"""What a table of the report is: a name, a sentence, and a pure function from the records to a Spark table.

A new table is one new file in this package that binds `TABLE`; it is found, made and written without further edits.
"""

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import DataFrame

from reports.ingest.records import Records


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """`make` describes the table lazily: it starts no Spark job. Its rows come in the order that a reader wants."""

    name: str
    about: str
    make: Callable[[Records], DataFrame]
