"""Problems of scenarios on the terminal: location first, with the source line and carets; all of them at once."""

import sys

import click

from cli.ci import Annotation, LogStream, append_summary, write_annotation
from cli.show.markdown import problems_markdown
from cli.terminal.problem_texts import count_phrase, full_texts
from harness.language import Problem, Problems


def print_problems(problems: Problems, *, ci: bool = False) -> None:
    """To stderr. `ci`: one line each, an annotation at the source line, and the job's summary."""
    if ci:
        _annotate(problems)
        return
    click.echo("\n\n".join(full_texts(problems)), err=True)
    click.echo(f"\n{count_phrase(problems)}; nothing was started", err=True)


def _annotate(problems: Problems) -> None:
    stream = LogStream(sys.stderr)
    for problem in problems.problems:
        write_annotation(stream, _annotation(problem))
    unwritten = append_summary(problems_markdown(problems))
    if unwritten is not None:
        stream.write(f"warning: {unwritten}\n")


def _annotation(problem: Problem) -> Annotation:
    message = f"{problem.message} ({problem.hint})" if problem.hint else problem.message
    if problem.given:
        return Annotation(level="error", title=problem.code, message=f"{problem.given}: {message}")
    return Annotation(
        level="error",
        title=problem.code,
        message=message,
        file=problem.path,
        line=problem.line,
        column=problem.column,
        end_column=problem.column + problem.length,
    )
