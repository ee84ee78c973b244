"""Protects what stands where a file is to be written: devices, pipes and links outlive it, and no half file is left."""

import os
import resource
from pathlib import Path
from threading import Thread

import pytest

from harness.records.atomic import write_atomically


def test_a_link_stays_one_and_what_it_leads_to_is_written(tmp_path: Path) -> None:
    """A baseline that several projects share, or a CI system's folder of artifacts."""
    (tmp_path / "shared").mkdir()
    for name in ("there.json", "new.json"):
        link = tmp_path / f"link-{name}"
        link.symlink_to(Path("shared") / name)
    (tmp_path / "shared" / "there.json").write_text("before")
    for name in ("there.json", "new.json"):
        write_atomically(tmp_path / f"link-{name}", b"told")
        assert (tmp_path / f"link-{name}").is_symlink()
        assert (tmp_path / "shared" / name).read_bytes() == b"told"
    assert sorted(path.name for path in (tmp_path / "shared").iterdir()) == ["new.json", "there.json"]


def test_a_pipe_stays_one_and_its_reader_is_told(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    heard: list[bytes] = []
    reader = Thread(target=lambda: heard.append(pipe.read_bytes()), daemon=True)
    reader.start()
    write_atomically(pipe, b"told")
    reader.join(10)
    assert heard == [b"told"]
    assert pipe.is_fifo()
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


def test_what_cannot_be_written_leaves_what_was_there(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("before")
    with pytest.raises(NotADirectoryError):
        write_atomically(tmp_path / "file" / "x", b"told")
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(OSError, match="symbolic links"):
        write_atomically(tmp_path / "loop", b"told")
    assert (tmp_path / "file").read_text() == "before"
    assert (tmp_path / "loop").is_symlink()


def test_where_a_disk_is_full_its_error_says_what_could_not_be_written(tmp_path: Path) -> None:
    """The kernel refuses what is written, not what is named: Python's error would not know the file."""
    allowed = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4, allowed[1]))
    try:
        with pytest.raises(OSError, match=r"report\.html") as refused:
            write_atomically(tmp_path / "report.html", b"more than four")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, allowed)
    assert refused.value.filename == str(tmp_path / "report.html")
    assert not [*tmp_path.iterdir()]
