"""Problems of scenarios as texts for people and as JSON values for programs: the same words in both."""

from pathlib import Path

from cli.show.formatting import pluralized
from harness.language import Problem, Problems, render
from harness.language.yaml.files import text_of


def full_texts(problems: Problems) -> list[str]:
    """Each problem with its place first, its source line, carets and a suggestion."""
    return [full_text(problem, problems) for problem in problems.problems]


def full_text(problem: Problem, problems: Problems) -> str:
    """One of them."""
    source = None if problem.given else problems.sources.get(problem.path) or _source(problem.path)
    return render(problem, source)


def count_phrase(problems: Problems) -> str:
    """`3 problems in 2 files`, `1 problem on the command line`."""
    files = len({problem.path for problem in problems.problems if not problem.given})
    places = [f"in {pluralized(files, 'file')}"] if files else []
    places += ["on the command line"] if any(problem.given for problem in problems.problems) else []
    return f"{pluralized(len(problems.problems), 'problem')} {' and '.join(places)}"


def problem_documents(problems: Problems) -> list[dict[str, object]]:
    """As JSON values; `text` is what a person reads."""
    return [
        {
            "path": "" if problem.given else str(problem.path),
            "line": problem.line,
            "column": problem.column,
            "given": problem.given,
            "code": problem.code,
            "message": problem.message,
            "hint": problem.hint,
            "text": full_text(problem, problems),
        }
        for problem in problems.problems
    ]


def _source(path: Path) -> str | None:
    """The file's text, for problems that are found after it was read; None where it cannot be read again, or never
    could: reading a pipe may not end."""
    try:
        return text_of(path)
    except Problems:
        return None
