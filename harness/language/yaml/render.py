"""Problems as text: with the source line and carets for people, one line each for tools."""

from rich.cells import cell_len

from harness.language.yaml.problems import Problem, Problems, Span

WIDEST = 100
"""Source lines above this many columns are shown in part, around the place."""
LEAD = 30


def one_line(problem: Problem) -> str:
    """`path:line:column: error[code]: message`, as compilers say it."""
    return f"{_printable(problem.where)}: error[{problem.code}]: {_printable(problem.message)}"


def render(problem: Problem, source: str | None) -> str:
    """The one line, then the source line with carets below what is meant, then the hint."""
    head = one_line(problem)
    lines = source_lines(source) if source is not None else []
    if not 1 <= problem.line <= len(lines):
        return f"{head}\n  {_printable(problem.hint)}" if problem.hint else head
    text = lines[problem.line - 1]
    spans = sorted({Span(problem.line, problem.column, problem.length), *problem.also})
    text, spans = _window(text, [span for span in spans if span.line == problem.line], problem.column)
    number = str(problem.line)
    gutter = " " * len(number)
    carets = _carets(text, spans)
    hint = f" {_printable(problem.hint)}" if problem.hint else ""
    return "\n".join((head, f"{gutter} |", f"{number} | {_printable(text)}", f"{gutter} | {carets}{hint}"))


def report(problems: Problems) -> str:
    """All problems with their source lines, an empty line between them."""
    return "\n\n".join(render(problem, problems.sources.get(problem.path)) for problem in problems.problems)


def source_lines(source: str) -> list[str]:
    """Lines as editors count them: ended by LF, CRLF or CR alone."""
    return source.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _window(text: str, spans: list[Span], column: int) -> tuple[str, list[Span]]:
    if len(text) <= WIDEST:
        return text, spans
    start = max(0, column - 1 - LEAD)
    cut = text[start : start + WIDEST]
    lead = "..." if start else ""
    tail = "..." if start + WIDEST < len(text) else ""
    moved = [
        Span(span.line, span.column - start + len(lead), min(span.length, WIDEST - (span.column - 1 - start)))
        for span in spans
        if start < span.column <= start + WIDEST
    ]
    return lead + cut + tail, moved


def _carets(text: str, spans: list[Span]) -> str:
    marked = ""
    for span in spans:
        before = _printable(text[: span.column - 1])
        below = _printable(text[span.column - 1 : span.column - 1 + span.length])
        marked = marked.ljust(cell_len(before) + max(0, span.column - 1 - len(text)))
        marked += "^" * max(1, cell_len(below))
    return marked


def _printable(text: str) -> str:
    """Control characters would let a file steer the terminal; a tab would move the carets."""
    return "".join(c if c.isprintable() else " " if c == "\t" else "\N{REPLACEMENT CHARACTER}" for c in text)
