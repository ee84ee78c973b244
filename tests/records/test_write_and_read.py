"""Protects what was measured: whatever cuts a suite short, its records read back, and resuming makes them whole."""

import itertools
import json
import os
import re
import stat
import threading
from pathlib import Path

import pytest
import record_samples as sample

from harness.records.folder import ResultsFolderOccupied, ResultsUnreadable, ResultsUnwritable
from harness.records.reader import folders, read, read_events
from harness.records.writer import Writer


def filled(folder: Path) -> Path:
    """A suite of three planned runs, of which two have ended."""
    with Writer.create(folder, sample.manifest("aaa", "bbb", "ccc")) as writer:
        writer.write(sample.run("aaa"), sample.events("aaa", count=3))
        writer.write(sample.run("bbb"), sample.events("bbb", count=2))
    return folder


def reopened(folder: Path) -> Writer:
    """As `--resume` goes on with it."""
    writer, results = Writer.reopen(folder)
    writer.cut_unfinished(results)
    return writer


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    results = read(filled(tmp_path / "r"))
    assert [run.run_id for run in results.runs] == ["aaa", "bbb"]
    assert results.runs[0] == sample.run("aaa")
    assert results.missing == ("ccc",)
    assert results.quarantined == ()
    assert list(read_events(results, [])) == sample.events("aaa", count=3) + sample.events("bbb", count=2)


def test_what_all_runs_amount_to_is_written_whole_and_gone_when_there_will_be_more(tmp_path: Path) -> None:
    folder = filled(tmp_path / "r")
    with reopened(folder) as writer:
        writer.write_groups([sample.group("held"), sample.group("failed")])
        writer.write_groups([sample.group("held")])
    assert read(folder).groups == (sample.group("held"),)
    with reopened(folder):
        assert read(folder).groups == ()


def test_a_suite_without_statistics_has_no_file_of_them(tmp_path: Path) -> None:
    with Writer.create(tmp_path / "r", sample.manifest("aaa")) as writer:
        writer.write_groups([])
    assert not (tmp_path / "r" / "groups.jsonl").exists()


def test_the_highest_attempt_counts_whatever_the_order(tmp_path: Path) -> None:
    with Writer.create(tmp_path / "r", sample.manifest("aaa")) as writer:
        writer.write(sample.run("aaa", attempt=2, verdict="pass"), [])
        writer.write(sample.run("aaa", attempt=1, verdict="inconclusive"), [])
    results = read(tmp_path / "r")
    assert [(run.attempt, run.verdict) for run in results.runs] == [(2, "pass")]
    assert len(results.tries) == 2


@pytest.mark.parametrize("name", ["runs.jsonl", "events.jsonl"])
def test_cut_anywhere_at_most_the_last_line_is_lost_and_reopening_repairs_it(tmp_path: Path, name: str) -> None:
    """A file cut at every byte still gives every whole line; reopened, the missing run is written once."""
    whole = (filled(tmp_path / "whole") / name).read_bytes()
    for size in range(0, len(whole), 7):
        folder = filled(tmp_path / f"cut-{size}")
        with (folder / name).open("r+b") as handle:
            handle.truncate(size)
        results, spoilt = read(folder), []
        lines = whole[:size].count(b"\n")
        if name == "runs.jsonl":
            assert len(results.runs) == lines
            spoilt = list(results.quarantined)
        else:
            assert len(list(read_events(results, spoilt))) == lines
        assert [q.cut for q in spoilt] == ([] if whole[:size].endswith(b"\n") or not size else [True])
        with reopened(folder) as writer:
            for run_id in results.missing:
                writer.write(sample.run(run_id), sample.events(run_id, count=2))
        again, spoilt = read(folder), []
        assert {run.run_id for run in again.runs} == {"aaa", "bbb", "ccc"}
        assert again.quarantined == ()
        seen = list(read_events(again, spoilt))
        assert spoilt == []
        assert len(seen) == len({(e.run_id, e.source_seq) for e in seen}), "no event twice"


def test_events_of_a_run_without_its_line_are_left_out(tmp_path: Path) -> None:
    folder = filled(tmp_path / "r")
    with (folder / "events.jsonl").open("ab") as handle:
        for event in sample.events("ccc", count=2):
            handle.write(event.model_dump_json().encode() + b"\n")
    assert {event.run_id for event in read_events(read(folder), [])} == {"aaa", "bbb"}


def test_corrupt_lines_are_set_aside_with_file_line_and_reason(tmp_path: Path) -> None:
    folder = filled(tmp_path / "r")
    lines = (folder / "runs.jsonl").read_bytes().splitlines()
    record = json.loads(lines[0])
    record["verdict"] = "maybe"
    lines[0] = json.dumps(record).encode()
    lines.insert(1, b"\xff\xfe not json")
    lines.insert(2, b"")
    (folder / "runs.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    results = read(folder)
    assert [run.run_id for run in results.runs] == ["bbb"]
    assert [(q.number, q.cut) for q in results.quarantined] == [(1, False), (2, False), (3, False)]
    assert "verdict" in results.quarantined[0].reason
    assert str(results.quarantined[0]).startswith(f"{folder / 'runs.jsonl'}:1: ")


def test_no_flipped_bit_changes_a_record_unnoticed(tmp_path: Path) -> None:
    """Among them those that leave valid JSON: another digit, another letter."""
    folder = filled(tmp_path / "r")
    whole, before = (folder / "runs.jsonl").read_bytes(), read(folder)
    changed = bytearray(whole)
    for place in range(0, len(whole), 7):
        for bit in (0, 1, 4):
            changed[place] ^= 1 << bit
            (folder / "runs.jsonl").write_bytes(changed)
            after = read(folder)
            assert after.quarantined or after.tries == before.tries, (place, bit)
            changed[place] = whole[place]


def test_lines_without_a_checksum_are_read(tmp_path: Path) -> None:
    """Those of older versions, and those that another program spelt anew."""
    folder = filled(tmp_path / "r")
    before = read(folder)
    records = [json.loads(line) for line in (folder / "runs.jsonl").read_bytes().splitlines()]
    assert all(len(record.pop("crc32")) == 8 for record in records)
    (folder / "runs.jsonl").write_text("".join(json.dumps(record) + "\r\n" for record in records))
    after = read(folder)
    assert (after.tries, after.quarantined) == (before.tries, ())


@pytest.mark.parametrize("file", ["manifest.json", "runs.jsonl"])
def test_a_newer_format_is_refused_by_its_number(tmp_path: Path, file: str) -> None:
    folder = filled(tmp_path / "r")
    text = (folder / file).read_text().replace('"format":1', '"format":99').replace('"format": 1', '"format": 99')
    (folder / file).write_text(re.sub(',"crc32":"[0-9a-f]{8}"', "", text))
    with pytest.raises(ResultsUnreadable, match="newer faultlab: run format 99, this one reads up to 1"):
        read(folder)


def test_no_suite_and_a_corrupt_manifest_say_which_file(tmp_path: Path) -> None:
    with pytest.raises(ResultsUnreadable, match=r"is no results folder: it has no manifest\.json"):
        read(tmp_path)
    folder = filled(tmp_path / "r")
    (folder / "manifest.json").write_text("{")
    with pytest.raises(ResultsUnreadable, match=r"manifest\.json is corrupt"):
        read(folder)


def test_a_suite_is_never_written_over(tmp_path: Path) -> None:
    folder = filled(tmp_path / "r")
    before = (folder / "runs.jsonl").read_bytes()
    with pytest.raises(ResultsFolderOccupied, match="already holds a suite"):
        Writer.create(folder, sample.manifest("zzz"))
    assert (folder / "runs.jsonl").read_bytes() == before


def test_two_writers_of_one_folder_are_refused(tmp_path: Path) -> None:
    folder = filled(tmp_path / "r")
    with reopened(folder), pytest.raises(ResultsFolderOccupied, match="another faultlab is writing"):
        Writer.reopen(folder)
    reopened(folder).close()


def test_a_suite_is_locked_before_it_is_read(tmp_path: Path) -> None:
    """What is read while another writes is stale by the time it is used: its runs would be made twice."""
    folder = filled(tmp_path / "r")
    with reopened(folder):
        (folder / "runs.jsonl").write_text('{"format": 99}\n')  # to read it would be another error
        with pytest.raises(ResultsFolderOccupied):
            Writer.reopen(folder)
    with pytest.raises(ResultsUnreadable):
        Writer.reopen(tmp_path)
    assert not (tmp_path / "runs.jsonl").exists(), "a folder that holds no suite is left as it is"


def test_a_suite_that_cannot_be_continued_is_left_as_it_is(tmp_path: Path) -> None:
    folder = filled(tmp_path / "r")
    with (folder / "runs.jsonl").open("a") as runs:
        runs.write("cut sho")
    with Writer.reopen(folder)[0] as writer:
        writer.write_groups([sample.group("held")])
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    Writer.reopen(folder)[0].close()
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_disk_that_fills_up_leaves_whole_lines_and_names_the_folder(tmp_path: Path) -> None:
    """RLIMIT_FSIZE makes the kernel take part of a line and then refuse, as a full disk does."""
    folder = tmp_path / "r"
    child = os.fork()
    if child == 0:
        code = 1
        try:
            import resource
            import signal

            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))
            with Writer.create(folder, sample.manifest(*(f"r{n}" for n in range(9)))) as writer:
                try:
                    for number in range(9):
                        writer.write(sample.run(f"r{number}"), sample.events(f"r{number}", count=1))
                except ResultsUnwritable as error:
                    said = str(error)
                    (tmp_path / "said").write_text(said)
                    code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    results = read(folder)
    assert 0 < len(results.runs) < 9
    assert results.quarantined == ()
    said = (tmp_path / "said").read_text()
    assert f"cannot write to {folder}" in said
    assert f"{len(results.runs)} finished runs are kept there and readable" in said


def test_a_folder_that_cannot_be_made_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ResultsUnwritable, match="nothing was run") as caught:
        Writer.create(tmp_path / "file" / "r", sample.manifest())
    assert "--out" in caught.value.remedy


def test_lanes_write_side_by_side_without_mixing_lines(tmp_path: Path) -> None:
    ids = [f"run{n}" for n in range(40)]
    with Writer.create(tmp_path / "r", sample.manifest(*ids)) as writer:
        lanes = [
            threading.Thread(
                target=lambda mine: [writer.write(sample.run(i), sample.events(i, count=20)) for i in mine],
                args=(ids[n::8],),
            )
            for n in range(8)
        ]
        for lane in lanes:
            lane.start()
        for lane in lanes:
            lane.join()
    results, spoilt = read(tmp_path / "r"), []
    assert [run.run_id for run in results.runs] == ids
    order = [event.run_id for event in read_events(results, spoilt)]
    assert len(order) == 800
    assert spoilt == []
    assert sum(a != b for a, b in itertools.pairwise(order)) == 39, "a run's events stand together"


def test_suites_are_found_newest_first_and_files_are_readable_by_others(tmp_path: Path) -> None:
    first, second = filled(tmp_path / "b"), filled(tmp_path / "a")
    (tmp_path / "no-suite").mkdir()
    os.utime(first / "manifest.json", ns=(1, 1))
    assert folders(tmp_path) == [second, first]
    assert folders(tmp_path / "nowhere") == []
    assert stat.S_IMODE((second / "runs.jsonl").stat().st_mode) & 0o044
