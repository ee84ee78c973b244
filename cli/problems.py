"""Problems of scenarios as texts for people and as JSON values for programs: the same words in both."""

from pathlib import Path

from harness.language import Problem, Problems, render


def full_texts(problems: Problems) -> list[str]:
    """Each problem with its place first, its source line, carets and a suggestion."""
    return [full_text(problem, problems) for problem in problems.problems]


def full_text(problem: Problem, problems: Problems) -> str:
    """One of them."""
    return render(problem, problems.sources.get(problem.path) or _source(problem.path))


def documents(problems: Problems) -> list[dict[str, object]]:
    """As JSON values; `text` is what a person reads."""
    return [
        {
            "path": str(problem.path),
            "line": problem.line,
            "column": problem.column,
            "code": problem.code,
            "message": problem.message,
            "hint": problem.hint,
            "text": full_text(problem, problems),
        }
        for problem in problems.problems
    ]


def _source(path: Path) -> str | None:
    """The file's text, for problems that are found after it was read; None where it cannot be read again."""
    try:
        return path.read_text(encoding="utf-8-sig", errors="replace")
    except OSError:
        return None
