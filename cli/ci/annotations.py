"""One-line errors with their place, and the same as annotations that a CI system shows beside the source line."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from cli.ci.log import LogStream, sanitized
from cli.ci.systems import System, detect_system

Level = Literal["error", "warning", "notice"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    """`title` is short and stable (`unknown-setting`, `fail`); lines and columns count from 1."""

    level: Level
    title: str
    message: str
    file: Path | None = None
    line: int = 0
    column: int = 0
    end_column: int = 0

    def one_line(self) -> str:
        """`path:line:column: error[title]: message`, as compilers say it."""
        place = [str(self.file), *(str(n) for n in (self.line, self.column) if n)] if self.file is not None else []
        lead = ":".join(place) + ": " if place else ""
        return f"{lead}{self.level}[{self.title}]: {' '.join(self.message.split())}"

    def command(self, environment: Mapping[str, str] = os.environ) -> str:
        """`::error file=...,line=...,col=...,title=...::message`, as GitHub's runner reads it.

        Source: actions/toolkit packages/core/src/command.ts.
        """
        properties: dict[str, str | int] = {}
        file = _from_workspace(self.file, environment) if self.file is not None else None
        if file is not None:
            properties = {"file": file, "line": self.line, "col": self.column, "endColumn": self.end_column}
        properties["title"] = self.title
        listed = ",".join(f"{name}={escaped(str(value), extra=':,')}" for name, value in properties.items() if value)
        message = "\r".join(sanitized(part) for part in self.message.split("\r"))
        return f"::{self.level} {listed}::{escaped(message)}"


def write_annotation(stream: LogStream, annotation: Annotation, system: System | None = None) -> None:
    """Write both. GitLab has no annotations: there the line alone has to do."""
    stream.write(f"{annotation.one_line()}\n")
    if (detect_system() if system is None else system) is not System.GITLAB:
        stream.command(annotation.command())


def escaped(text: str, extra: str = "") -> str:
    """Text inside a workflow command; `extra`: what would end it in a property."""
    for character in f"%\r\n{extra}":
        text = text.replace(character, f"%{ord(character):02X}")
    return text


def _from_workspace(file: Path, environment: Mapping[str, str]) -> str | None:
    """The path as GitHub knows it: relative to the checkout, wherever the command was started. None outside of it."""
    workspace = environment.get("GITHUB_WORKSPACE")
    if not workspace:
        return str(file)
    absolute = Path(os.path.normpath(Path.cwd() / file))
    root = Path(os.path.normpath(workspace))
    return str(absolute.relative_to(root)) if absolute.is_relative_to(root) else None
