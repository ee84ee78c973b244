"""Problems of scenarios on the terminal: location first, with the source line and carets; all of them at once."""

import sys

import click

from cli.ci import Annotation, LogStream, append_summary, say
from cli.problems import full_texts
from cli.show.figures import many
from cli.show.markdown import problems_markdown
from harness.language import Problem, Problems


def say_problems(problems: Problems, *, ci: bool = False) -> None:
    """To stderr. `ci`: one line each, an annotation that shows beside the source line, and the job's summary."""
    if ci:
        _annotate(problems)
        return
    click.echo("\n\n".join(full_texts(problems)), err=True)
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
