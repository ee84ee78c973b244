"""Protects CSV files from spreadsheets, and their readers from what a cell cannot hold."""

import csv
from pathlib import Path

import pandas as pd
import pyarrow as pa

from reports.csv_export import write_csv


def rows_of(table: pa.Table, folder: Path) -> list[dict[str, str]]:
    with write_csv(table, folder / "t.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_texts_that_are_formulas_to_a_spreadsheet_are_kept_from_being_one(tmp_path: Path) -> None:
    texts = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", 'a "quoted", text', "two\nlines", "ü", "", "2*x - 1"]
    found = [row["text"] for row in rows_of(pa.table({"text": texts}), tmp_path)]
    assert found[:6] == ["'=1+1", "'+1", "'-1", "'@SUM(A1)", "'\t=1", "'\r=1"]
    assert found[6:] == texts[6:]


def test_figures_stay_figures_and_what_is_missing_is_empty(tmp_path: Path) -> None:
    table = pa.table(
        {
            "count": pa.array([1, None, 2**60 + 1], pa.int64()),
            "seconds": pa.array([-0.5, None, 1e-9], pa.float64()),
            "held": pa.array([True, None, False]),
            "words": pa.array([["=x", "y"], [], None], pa.list_(pa.string())),
            "pairs": pa.array([[{"time": 1.0}], [], None], pa.list_(pa.struct([("time", pa.float64())]))),
        }
    )
    found = rows_of(table, tmp_path)
    assert [row["count"] for row in found] == ["1", "", str(2**60 + 1)]
    assert [row["seconds"] for row in found] == ["-0.5", "", "1e-09"]
    assert [row["held"] for row in found] == ["True", "", "False"]
    assert [row["words"] for row in found] == ["'=x; y", "", ""]
    assert "pairs" not in found[0]
    assert not list(tmp_path.glob(".*"))
    assert pd.read_csv(tmp_path / "t.csv")["seconds"].tolist()[0] == -0.5
