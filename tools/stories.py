"""Makes what docs/stories show: `.venv/bin/python tools/stories.py` runs every command of every story again.

A story is a page whose console blocks begin with `$ faultlab ...`; below stands what that printed. A command with
`--picture docs/images/x.svg` made that picture. `<!-- only: budget -->` above a block keeps one row of it,
`<!-- without: see also, run it -->` leaves two out: they change with whatever else is bundled.
With `--check` nothing is written, and what is out of date is named.
"""

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STORIES = ROOT / "docs" / "stories"
BLOCK = re.compile(
    r"^(<!-- (only|without): ([^\n]+) -->\n)?```console\n\$ (faultlab (?:[^\n\\]|\\\n)*)\n.*?^```$",
    re.MULTILINE | re.DOTALL,
)
CONTINUATION_PREFIXES = ("or ", " ")
"""How lines begin that belong to the row above."""
LIMIT_S = 120.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing, name what is out of date")
    check = parser.parse_args().check
    stale = {
        path: text for path, text in rendered_files() if not path.exists() or path.read_text(encoding="utf-8") != text
    }
    for path, text in stale.items():
        if not check:
            path.write_text(text, encoding="utf-8")
        print(f"{'out of date' if check else 'wrote'}: {path.relative_to(ROOT)}")
    return 1 if stale and check else 0


def rendered_files() -> Iterator[tuple[Path, str]]:
    """Every file that a story is made of, as it ought to be."""
    for page in sorted(STORIES.glob("*.md")):
        pictures: dict[Path, str] = {}

        def printed(block: re.Match[str], pictures: dict[Path, str] = pictures) -> str:
            comment, how, labels, command = block.groups()
            said, drawn = run(command.replace("\\\n", " "))
            pictures |= drawn
            shown = excerpt(said, labels.split(", "), keep=how == "only") if comment else said
            return f"{comment or ''}```console\n$ {command}\n{shown}```"

        yield page, BLOCK.sub(printed, page.read_text(encoding="utf-8"))
        yield from pictures.items()


def excerpt(text: str, labels: Sequence[str], *, keep: bool) -> str:
    """Only the rows that begin with these labels, or all but those; dots stand for what was left out."""
    shown: list[str] = []
    inside = False
    for line in text.splitlines(keepends=True):
        if not line.startswith(CONTINUATION_PREFIXES):
            inside = line.startswith(tuple(labels))
        if inside == keep:
            shown.append(line)
        elif shown[-1:] != ["...\n"]:
            shown.append("...\n")
    return "".join(shown)


def run(command: str) -> tuple[str, dict[Path, str]]:
    """What a command prints in an empty folder, and the pictures that it draws, by the file they belong into."""
    words = shlex.split(command)[1:]
    with tempfile.TemporaryDirectory() as folder:
        pictures = {}
        for index, word in enumerate(words):
            if index and words[index - 1] == "--picture":
                pictures[ROOT / word] = Path(folder) / Path(word).name
                words[index] = Path(word).name
        done = subprocess.run(
            [sys.executable, "-m", "cli", *words], cwd=folder, capture_output=True, text=True, timeout=LIMIT_S,
            env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False,
        )  # fmt: skip
        if done.returncode != 0:
            raise SystemExit(f"{command}\nended with {done.returncode}:\n{done.stdout}{done.stderr}")
        return done.stdout, {target: made.read_text(encoding="utf-8") for target, made in pictures.items()}


if __name__ == "__main__":
    sys.exit(main())
