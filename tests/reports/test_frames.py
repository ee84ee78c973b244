"""Protects tables in notebooks: what docs/REPORTS.md shows works, and starts no Java."""

import re
from pathlib import Path
from textwrap import dedent

import pandas as pd
import pyarrow.parquet as pq
import pytest

import reports
from reports.result import ReportResult

DOCUMENT = Path(__file__).parents[2] / "docs" / "REPORTS.md"


def test_the_documented_example_prints_what_failed(
    built: ReportResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    section = DOCUMENT.read_text(encoding="utf-8").partition("## In a notebook")[2].partition("\n## ")[0]
    example = dedent("".join(re.findall(r"^(?: {4}.*)?\n", section, flags=re.MULTILINE)))
    named = re.search(r'reports\.read\("(.+?)"\)', example)
    assert named is not None
    (tmp_path / named[1]).parent.mkdir(parents=True)
    (tmp_path / named[1]).symlink_to(built.page.parent)
    monkeypatch.chdir(tmp_path)
    exec(compile(example, DOCUMENT.name, "exec"), {})
    assert "sarama-upgrade-bound" in capsys.readouterr().out


def test_every_table_is_a_frame(built: ReportResult) -> None:
    report = reports.read(built.page.parent)
    assert set(report.names) == set(built.tables)
    for name, file in built.tables.items():
        frame = report.frame(name)
        assert list(frame.columns) == pq.read_schema(file).names
        assert len(frame) == pq.read_metadata(file).num_rows
    assert isinstance(report.frame("timeouts")["n"].dtype, pd.Int64Dtype)


def test_without_a_report_or_such_a_table_it_says_what_to_do(built: ReportResult, tmp_path: Path) -> None:
    with pytest.raises(reports.NothingToReport, match=f"faultlab report {tmp_path}"):
        reports.read(tmp_path)
    with pytest.raises(reports.NothingToReport, match="timeouts"):
        reports.read(built.page.parent).frame("time-outs")
