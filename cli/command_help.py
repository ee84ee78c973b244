"""What a command is for, read from its file without importing it: `faultlab --help` must not load all of faultlab."""

import ast
from pathlib import Path


def read_command_help(file: Path) -> str | None:
    """The help of the click command that the file calls `command`, None where it is not plainly written there.

    Plainly: `help="..."`, or the docstring of a function of the file, `help=run.__doc__`.
    """
    body = ast.parse(file.read_bytes()).body
    docstrings = {one.name: ast.get_docstring(one) for one in body if isinstance(one, ast.FunctionDef)}
    match [one.value for one in body if isinstance(one, ast.Assign) and _names(one) == ["command"]]:
        case [ast.Call(keywords=keywords)]:
            given = next((keyword.value for keyword in keywords if keyword.arg == "help"), None)
        case _:
            return None
    match given:
        case ast.Constant(value=str(text)):
            return text
        case ast.Attribute(value=ast.Name(id=name), attr="__doc__"):
            return docstrings.get(name)
        case _:
            return None


def _names(assigned: ast.Assign) -> list[str]:
    return [target.id for target in assigned.targets if isinstance(target, ast.Name)]
