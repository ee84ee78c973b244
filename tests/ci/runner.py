"""A runner of GitHub's for composite actions, as far as this one needs it: inputs, conditions, outputs, PATH, bash."""

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

ROOT = Path(__file__).parents[2]
EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}", flags=re.DOTALL)
BASH = ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c")
"""As GitHub starts `shell: bash`."""


def load(text: str) -> Any:
    return YAML(typ="safe", pure=True).load(text)


@dataclass
class Ran:
    """One step: its exit code and what it printed. Code None: its condition was false."""

    code: int | None
    out: str = ""


@dataclass
class Runner:
    """Runs the shell steps of an action in a folder. `before` is put before bash, to change the machine."""

    action: Mapping[str, Any]
    workspace: Path
    temporary: Path
    inputs: Mapping[str, str] = field(default_factory=dict)
    path: str = os.environ["PATH"]
    home: Path | None = None
    environment: str = "github-hosted"
    before: tuple[str, ...] = ()
    action_path: Path = ROOT
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)
    ran: dict[str, Ran] = field(default_factory=dict)

    def run(self, *names: str) -> None:
        """The steps of these names, all shell steps without any, in order; one that fails makes `failed()` true."""
        for step in self.action["runs"]["steps"]:
            if "run" in step and (not names or step["name"] in names):
                self.ran[step["name"]] = self._step(step)

    def value(self, text: str) -> str:
        """The text with every `${{ name }}` replaced."""
        return EXPRESSION.sub(lambda found: self._named(found[1].strip()), text)

    def _named(self, name: str) -> str:
        kind, _, rest = name.partition(".")
        if kind == "inputs":
            declared = self.action["inputs"][rest]  # an input that is not declared is a mistake here
            return str(self.inputs.get(rest, declared["default"]))
        if kind == "steps":
            step, outputs, output = rest.split(".")
            assert outputs == "outputs"
            return self.outputs.get(step, {}).get(output, "")
        return {
            "github.action_path": str(self.action_path),
            "runner.environment": self.environment,
            "runner.os": "Linux",
            "runner.arch": "X64",
        }[name]

    def _holds(self, condition: str) -> bool:
        whole = EXPRESSION.fullmatch(condition.strip())
        text = whole[1] if whole else condition
        failed = any(ran.code for ran in self.ran.values())
        explicit = "cancelled()" in text or "always()" in text
        text = text.replace("!cancelled()", "True").replace("always()", "True")
        text = text.replace("&&", " and ").replace("||", " or ")
        text = re.sub(r"\b(?:inputs|steps)\.[\w.-]+", lambda found: repr(self._named(found[0])), text)
        return bool(eval(text, {"__builtins__": {}})) and (explicit or not failed)

    def _step(self, step: Mapping[str, Any]) -> Ran:
        assert step["shell"] == "bash"
        assert not EXPRESSION.search(step["run"]), f"{step['name']}: what users give is no part of a script"
        if not self._holds(step.get("if", "True")):
            return Ran(None)
        files = {
            name: self.temporary / name.lower() for name in ("GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STEP_SUMMARY")
        }
        for name in ("GITHUB_OUTPUT", "GITHUB_PATH"):
            files[name].write_text("")
        done = subprocess.run(
            [*self.before, *BASH, step["run"]],
            cwd=self.workspace / self.value(step.get("working-directory", ".")),
            env={
                **{name: os.environ[name] for name in os.environ if name.startswith(("PIP_", "LANG", "SSL_"))},
                "PATH": self.path,
                "HOME": str(self.home or Path.home()),
                "GITHUB_ACTIONS": "true",
                "GITHUB_WORKSPACE": str(self.workspace),
                "RUNNER_TEMP": str(self.temporary),
                **{name: str(file) for name, file in files.items()},
                **{name: self.value(str(text)) for name, text in step.get("env", {}).items()},
            },
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, check=False,
        )  # fmt: skip
        added = files["GITHUB_PATH"].read_text().split("\n")
        self.path = ":".join([*(line for line in added if line), self.path])
        pairs = [line.partition("=") for line in files["GITHUB_OUTPUT"].read_text().splitlines()]
        self.outputs.setdefault(step.get("id", step["name"]), {}).update({key: value for key, _, value in pairs})
        return Ran(done.returncode, done.stdout)
