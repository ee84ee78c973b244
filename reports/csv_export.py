"""Tables as CSV, for spreadsheets: flat, and harmless to open.

Nested columns are left out: they are in the Parquet file. Lists of texts are joined with `; `.
"""

import csv
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.types as kinds

from harness.records.atomic import write_atomically

FORMULA_PREFIXES = ("=", "+", "-", "@", "\t", "\r", "\n")
"""A text that begins so is a formula to a spreadsheet. Source: OWASP, CSV Injection."""
SEPARATOR = "; "


def write_csv(table: pa.Table, file: Path) -> Path:
    """Whole or not at all. Raises OSError."""
    text = flat_frame(table).to_csv(index=False, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    write_atomically(file, text.encode())
    return file


def flat_frame(table: pa.Table) -> pd.DataFrame:
    """The columns that a cell can hold. Counts stay whole numbers where some are missing."""
    columns = {}
    for name in table.column_names:
        kind = table.schema.field(name).type
        values = table[name]
        if kinds.is_list(kind) and kinds.is_string(kind.value_type):
            columns[name] = values.to_pandas().map(join_texts, na_action="ignore").astype("string").map(escape_formula)
        elif kinds.is_string(kind):
            columns[name] = values.to_pandas().astype("string").map(escape_formula)
        elif kinds.is_integer(kind):
            columns[name] = values.to_pandas(integer_object_nulls=True).astype("Int64")
        elif not kinds.is_nested(kind):
            columns[name] = values.to_pandas()
    return pd.DataFrame(columns)


def join_texts(texts: object) -> str:
    return SEPARATOR.join(str(text) for text in texts)  # type: ignore[attr-defined]


def escape_formula(text: object) -> object:
    """With an apostrophe before what a spreadsheet would take for a formula: it shows the rest as text."""
    return f"'{text}" if isinstance(text, str) and text.startswith(FORMULA_PREFIXES) else text
