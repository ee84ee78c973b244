"""Remembering what was worked out last, for values that are asked for again and again before the next one comes."""

from collections.abc import Callable
from functools import wraps
from operator import is_
from threading import local
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def remembering_last(function: Callable[P, R]) -> Callable[P, R]:
    """Each thread remembers the result for the very objects, not equal ones, that the function was called with last.

    For pure functions of values that never change, called with positional arguments.
    """
    last = local()

    @wraps(function)
    def remembering(*arguments: P.args, **named: P.kwargs) -> R:
        assert not named, "remembered by position"
        before = getattr(last, "arguments", None)
        if before is None or len(before) != len(arguments) or not all(map(is_, before, arguments)):
            result = function(*arguments, **named)
            last.arguments, last.result = arguments, result
            return result
        found: R = last.result
        return found

    return remembering
