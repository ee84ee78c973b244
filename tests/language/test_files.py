"""Protects finding and reading files: what cannot be read is said with its reason, and nothing is read twice."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.language import Problems, find, load


def refused(path: Path) -> tuple[str, str]:
    with pytest.raises(Problems) as caught:
        load(path)
    (problem,) = caught.value.problems
    return problem.code, problem.hint


def test_a_missing_file_names_its_neighbour(tmp_path: Path) -> None:
    (tmp_path / "blackhole.scenario.yaml").write_text("")
    code, hint = refused(tmp_path / "blackhol.scenario.yaml")
    assert code == "missing-file"
    assert "blackhole.scenario.yaml" in hint


def test_an_empty_file_a_folder_and_a_path_that_is_none(tmp_path: Path) -> None:
    empty = tmp_path / "a.scenario.yaml"
    empty.write_text("")
    assert refused(empty)[0] == "empty"
    assert refused(tmp_path)[0] == "unreadable"
    assert refused(Path("a\0b"))[0] == "missing-file"
    assert refused(empty / "below")[0] == "missing-file"


def test_a_pipe_is_no_scenario(tmp_path: Path) -> None:
    """Nobody writes into it: reading would never end."""
    pipe = tmp_path / "a.scenario.yaml"
    os.mkfifo(pipe)
    with pytest.raises(Problems, match="a pipe, a socket or a device"):
        load(pipe)


def test_what_is_not_utf_8_is_placed(tmp_path: Path) -> None:
    path = tmp_path / "a.scenario.yaml"
    path.write_bytes("format: 1\nabout: caf\u00e9\n".encode("latin-1"))
    with pytest.raises(Problems) as caught:
        load(path)
    (problem,) = caught.value.problems
    assert (problem.code, problem.line, problem.column) == ("not-utf-8", 2, 11)


def test_folders_are_walked_in_order_and_each_file_is_found_once(tmp_path: Path) -> None:
    for name in (
        "b/2.scenario.yaml",
        "b/1.scenario.yaml",
        "a/1.scenario.yaml",
        "a/formulas.yaml",
        ".git/x.scenario.yaml",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    named = [tmp_path / "a" / "1.scenario.yaml", tmp_path]
    found = [path.relative_to(tmp_path).as_posix() for path in find(named)]
    assert found == ["a/1.scenario.yaml", "b/1.scenario.yaml", "b/2.scenario.yaml"]
    with pytest.raises(Problems, match="no such file"):
        find([tmp_path / "c"])


@pytest.fixture
def open_to_all() -> Iterator[Path]:
    """A folder that an ordinary user reaches: pytest's own is closed to others, again and again, by its sessions."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name)
        path.chmod(0o755)
        yield path


def test_a_folder_that_may_not_be_read_is_said(open_to_all: Path) -> None:
    """As an ordinary user: root may read everything, so a child process gives its rights away first."""
    dark = open_to_all / "dark"
    dark.mkdir()
    (dark / "a.scenario.yaml").write_text("")
    dark.chmod(0)
    code = (
        "import os, sys; from pathlib import Path; from harness.language import Problems, find, load\n"
        "os.getuid() == 0 and os.setresuid(65534, 65534, 65534)\n"
        "for action in (lambda p: find([p]), lambda p: load(p / 'a.scenario.yaml')):\n"
        "    try: action(Path(sys.argv[1])); print('read')\n"
        "    except Problems as error: print(error.problems[0].code, error.problems[0].hint)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(dark)], capture_output=True, text=True, check=False,
        cwd=Path(__file__).parents[2],
    )  # fmt: skip
    dark.chmod(0o700)
    assert done.stdout.splitlines() == [f"unreadable allow it: chmod u+rX {dark}"] * 2, done.stderr
