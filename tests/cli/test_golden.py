"""Protects what a user reads: one golden text for each command, whole, so that a change of words is seen as one.

Other tests assert structure.
"""

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from command_line import ROOT, faultlab, write_scenario
from golden_text import hold_to_golden

from cli.main import main

GOLDEN = Path(__file__).parent / "golden"
SCENARIOS: dict[str, Sequence[str]] = {
    "run": ["run", "mixed", "--env", "sim", "--out", "r"],
    "run-passed": ["run", "mixed/dark.scenario.yaml", "--env", "sim", "--out", "r"],
    "list": ["list", "mixed"],
    "validate": ["validate", "wrong"],
    "replay": ["replay", "RUN", "--in", "is", "--out", "r"],
    "gate": ["gate", "--baseline", "was", "--current", "is"],
    "gate-unchanged": ["gate", "--baseline", "was", "--current", "was"],
    "compare": ["compare", "was", "is"],
    "agree": ["agree", "--of", "was"],
    "explain": ["explain", "sarama@1.27.2", "blackhole"],
    "explain-budget": ["explain", "sarama@1.60.1", "blackhole", "--budget", "5s"],
    "init": ["init", "--client", "sarama", "mine"],
    "usage": ["run", "nowhere", "--env", "sim"],
}
"""What is typed in a folder with three folders of scenarios and two of results."""
CHANGING = [
    (re.compile(r"^((?:PASSED|FAILED|INCONCLUSIVE|LAB ERROR)\b.* )\d+\.\d s$", re.MULTILINE), r"\1TIME"),
    (re.compile(r"faultlab \d[\w.+-]*"), "faultlab VERSION"),
]
"""How long the lab took, and which release it is."""


@pytest.fixture
def project(suites: Path, tmp_path: Path) -> Path:
    for name in ("s", "was", "is"):
        shutil.copytree(suites / name, tmp_path / name)
    write_scenario(tmp_path / "mixed", "dark")
    write_scenario(tmp_path / "mixed", "wrong", formula="3*Net.ReadTimeout", holds="true")
    (path := write_scenario(tmp_path / "wrong")).write_text(
        path.read_text().replace("Net.ReadTimeout: 2s", "Net.ReadTimeuot: 2").replace("do: send, as: probe", "do: sedn")
    )
    return tmp_path


@pytest.mark.parametrize("name", SCENARIOS)
def test_what_a_command_says(project: Path, name: str) -> None:
    words = [_first_run(project) if word == "RUN" else word for word in SCENARIOS[name]]
    done = faultlab(*words, cwd=project)
    said = f"$ faultlab {' '.join(words)}\n{done.out}{done.err}exit {done.code}\n"
    hold_to_golden(GOLDEN / f"{name}.txt", said.replace(str(project), "FOLDER"), CHANGING)


def test_what_help_says(capsys: pytest.CaptureFixture[str]) -> None:
    commands = ["", *sorted(path.stem for path in (ROOT / "cli" / "commands").glob("[a-z]*.py"))]
    said = []
    for command in [*commands, "clients build", "clients check", "clients list"]:
        assert main([*command.split(), "--help"]) == 0
        said.append(f"$ faultlab {command} --help\n".replace("  ", " ") + capsys.readouterr().out)
    hold_to_golden(GOLDEN / "help.txt", "\n".join(said))


def _first_run(folder: Path) -> str:
    return re.search(r'"run_id":"(\w{6})', (folder / "is" / "runs.jsonl").read_text())[1]  # type: ignore[index]
