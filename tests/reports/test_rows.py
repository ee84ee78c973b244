"""Protects the rows that pages read: the same as Arrow's own, made when they are asked for."""

import pyarrow as pa
import pytest

from reports.rows import Rows

PART = pa.table(
    {
        "name": ["a", "b", None, "a"],
        "n": [1, None, 3, 4],
        "pairs": [[{"time": 1.0}], [], None, [{"time": 2.0}, {"time": None}]],
    }
)
TABLES = {"one chunk": PART, "several": pa.concat_tables([PART, PART.slice(1), PART]), "none": PART.slice(0, 0)}


@pytest.mark.parametrize("name", TABLES)
def test_rows_are_those_of_the_table(name: str) -> None:
    table = TABLES[name]
    rows, expected = Rows(table), table.to_pylist()
    assert len(rows) == len(expected)
    assert [dict(row) for row in rows] == expected
    assert rows[1:3] == expected[1:3]
    assert rows[-1:] == expected[-1:]


def test_a_column_that_is_not_there_is_a_key_error() -> None:
    row = Rows(PART)[0]
    assert row.get("line") is None
    assert "line" not in row
    with pytest.raises(KeyError):
        row["line"]
