"""Problems of scenarios on the terminal: location first, with the source line and carets; all of them at once."""

import sys
from pathlib import Path

import click

from cli.ci import Annotation, LogStream, append_summary, say
from cli.show.figures import many
from cli.show.markdown import problems_markdown
from harness.language import Problem, Problems, render


def say_problems(problems: Problems, *, ci: bool = False) -> None:
    """To stderr. `ci`: one line each, an annotation that shows beside the source line, and the job's summary."""
    if ci:
        _annotate(problems)
        return
    click.echo("\n\n".join(_full(problem, problems) for problem in problems.problems), err=True)
    files = len({problem.path for problem in problems.problems})
    click.echo(f"\n{many(len(problems.problems), 'problem')} in {many(files, 'file')}; nothing was started", err=True)


def _annotate(problems: Problems) -> None:
    stream = LogStream(sys.stderr)
    for problem in problems.problems:
        say(stream, _annotation(problem))
    unwritten = append_summary(problems_markdown(problems))
    if unwritten is not None:
        stream.write(f"warning: {unwritten}\n")


def _annotation(problem: Problem) -> Annotation:
    return Annotation(
        level="error",
        title=problem.code,
        message=f"{problem.message} ({problem.hint})" if problem.hint else problem.message,
        file=problem.path,
        line=problem.line,
        column=problem.column,
        end_column=problem.column + problem.length,
    )


def _full(problem: Problem, problems: Problems) -> str:
    return render(problem, problems.sources.get(problem.path) or _source(problem.path))


def _source(path: Path) -> str | None:
    """The file's text, for problems that are found after it was read; None where it cannot be read again."""
    try:
        return path.read_text(encoding="utf-8-sig", errors="replace")
    except OSError:
        return None
