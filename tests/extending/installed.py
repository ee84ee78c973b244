"""A Python installation of its own, in which packages are installed and faultlab is run."""

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
LIMIT_S = 280.0


@dataclass(frozen=True)
class Installation:
    """A virtual environment that also has the packages of this one; `project` is the working folder of its programs."""

    environment: Path
    project: Path

    @classmethod
    def create(cls, environment: Path, project: Path) -> "Installation":
        venv.create(environment, symlinks=True)
        made = cls(environment, project)
        paths = [str(ROOT), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
        (made.site_packages / "faultlab.pth").write_text("\n".join(paths))
        return made

    @property
    def site_packages(self) -> Path:
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        return self.environment / "lib" / version / "site-packages"

    def install(self, name: str, entry_points: dict[str, str], *modules: Path) -> None:
        """Do what an installer does: copy modules, write the package's name and its entry points."""
        for module in modules:
            copy = shutil.copytree if module.is_dir() else shutil.copy
            copy(module, self.site_packages / module.name)
        metadata = self.site_packages / f"{name.replace('-', '_')}-1.0.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        lines = [f"{kind} = {module}" for kind, module in entry_points.items()]
        (metadata / "entry_points.txt").write_text("\n".join(["[faultlab.extensions]", *lines, ""]))

    def faultlab(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.python("-m", "cli", *arguments)

    def python(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        ours = ("PYTEST", "FAULTLAB", "PYTHONPATH", "COLUMNS")
        variables = {name: text for name, text in os.environ.items() if not name.startswith(ours)}
        return subprocess.run(
            [str(self.environment / "bin" / "python"), *arguments],
            cwd=self.project, env=variables | {"COLUMNS": "200"}, capture_output=True, text=True, check=False,
            timeout=LIMIT_S,
        )  # fmt: skip
