"""Remembering the last result of a conversion, for parts of a plan that the repeats of a case share.

Only for pure conversions of immutable values: what depends on a run belongs to `harness.measures.RunView`.
"""

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, signature
from operator import is_
from threading import local
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


_NOTHING: Any = None, None


def memoize_last(function: Callable[P, R]) -> Callable[P, R]:
    """Each thread remembers the result for the very objects, not equal ones, that the function was called with last.

    For pure functions of values that never change, called with positional arguments.
    """
    if [parameter.kind for parameter in signature(function).parameters.values()] == [Parameter.POSITIONAL_OR_KEYWORD]:
        return _of_one(function)
    last = local()

    @wraps(function)
    def remembering(*arguments: P.args, **named: P.kwargs) -> R:
        assert not named, "remembered by position"
        before: tuple[object, ...] | None
        found: R
        before, found = getattr(last, "kept", _NOTHING)
        if before is None or len(before) != len(arguments) or not all(map(is_, before, arguments)):
            found = function(*arguments, **named)
            last.kept = arguments, found
        return found

    return remembering


def _of_one(function: Callable[P, R]) -> Callable[P, R]:
    """The same for functions of one value, in a third of the time."""
    last = local()

    @wraps(function)
    def remembering(argument: Any) -> R:
        before: object
        found: R
        before, found = getattr(last, "kept", _NOTHING)
        if before is not argument or before is None:
            found = function(argument)  # type: ignore[call-arg]
            last.kept = argument, found
        return found

    return remembering  # type: ignore[return-value]
