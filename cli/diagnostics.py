"""Problems of scenarios on the terminal: location first, with the source line and carets; all of them at once."""

from pathlib import Path

import click

from cli.show.figures import many
from harness.language import Problem, Problems, annotation, one_line, render


def say_problems(problems: Problems, *, ci: bool = False) -> None:
    """To stderr. `ci`: one line each, and an annotation that GitHub Actions shows beside the source line."""
    texts = [_ci(problem) if ci else _full(problem, problems) for problem in problems.problems]
    click.echo(("\n" if ci else "\n\n").join(texts), err=True)
    files = len({problem.path for problem in problems.problems})
    if not ci:
        click.echo(f"\n{many(len(texts), 'problem')} in {many(files, 'file')}; nothing was started", err=True)


def _full(problem: Problem, problems: Problems) -> str:
    return render(problem, problems.sources.get(problem.path) or _source(problem.path))


def _source(path: Path) -> str | None:
    """The file's text, for problems that are found after it was read; None where it cannot be read again."""
    try:
        return path.read_text(encoding="utf-8-sig", errors="replace")
    except OSError:
        return None


def _ci(problem: Problem) -> str:
    return f"{one_line(problem)}\n{annotation(problem)}"
