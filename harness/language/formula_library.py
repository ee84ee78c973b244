"""The formulas that a scenario may cite: those of formulas.yaml beside it, and those bundled for its client."""

import os
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path

from harness.language.formulas_file import FORMULAS_FILE, LocatedFormula, locate_formulas
from harness.language.yaml.diagnostics import Diagnostics
from harness.language.yaml.problems import Problem, Problems
from harness.quantities import quote_value
from harness.suggestions import did_you_mean


class FormulaNotFound(LookupError):
    """No file that was read has a formula of this name. `hint` is one suggestion."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class FormulaLibrary:
    """Reads each file once, when the first formula is cited."""

    def __init__(self, folder: Path) -> None:
        self.sources: dict[Path, str] = {}
        self._beside = folder / FORMULAS_FILE
        self._diagnostics: dict[Path, Diagnostics] = {}
        self._files: dict[Path, Mapping[str, LocatedFormula] | None] = {}

    @property
    def problems(self) -> list[Problem]:
        """The problems that were found in the files so far."""
        return [problem for diagnostics in self._diagnostics.values() for problem in diagnostics.problems]

    def diagnostics(self, path: Path) -> Diagnostics:
        """Collects the problems of this file."""
        return self._diagnostics.setdefault(path, Diagnostics(path))

    def find(self, name: str, profile: str | None) -> LocatedFormula | None:
        """The formula of this name: beside the scenario, else bundled for the client that has this profile.

        None where a file cannot be used; `problems` says why. Raises FormulaNotFound.
        """
        known: list[str] = []
        for path in self._paths(profile):
            formulas = self._read(path)
            if formulas is None:
                return None
            if name in formulas:
                return formulas[name]
            known += formulas
        raise self._not_found(name, profile, known)

    def _paths(self, profile: str | None) -> tuple[Path, ...]:
        beside = (self._beside,) if os.path.lexists(self._beside) else ()
        bundled = None if profile is None else _bundled(profile)
        if bundled is None or (beside and self._beside.samefile(bundled)):
            return beside
        return (*beside, bundled)

    def _read(self, path: Path) -> Mapping[str, LocatedFormula] | None:
        if path not in self._files:
            try:
                self._files[path] = locate_formulas(path)
            except Problems as error:
                self._files[path] = None
                self.diagnostics(path).problems.extend(error.problems)
                self.sources.update(error.sources)
        return self._files[path]

    def _not_found(self, name: str, profile: str | None, known: list[str]) -> FormulaNotFound:
        beside = f"{FORMULAS_FILE} beside this file" + ("" if os.path.lexists(self._beside) else " (there is none)")
        bundled = "" if profile is None else f" and in the formulas bundled for {profile}"
        message = f"there is no formula {quote_value(name)}: looked in {beside}{bundled}"
        return FormulaNotFound(message, did_you_mean(name, known) or "write the formula itself")


@cache
def _bundled(profile: str) -> Path | None:
    path = Path(str(files("scenarios"))) / profile / FORMULAS_FILE
    return path if path.exists() else None
