"""What an operation is to a client: a name, a reader of its arguments, and a handler that each profile provides."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from client.events import TraceValue
from client.operations.context import Context

A = TypeVar("A")

Result = Mapping[str, TraceValue]
"""The fields of an `ok` beside `id` and `at_ns`: each operation has its own."""

Handler = Callable[[Mapping[str, object], Context], Awaitable[Result]]
"""Carries out one call with the command's arguments, and returns when the real client's call would.

Raises `client.errors.ClientError` with the real client's error, CommandError for arguments that cannot be followed.
"""


class CommandError(Exception):
    """A command that cannot be carried out as it stands. The text does not name the operation."""


@dataclass(frozen=True, slots=True)
class Operation(Generic[A]):
    """`parse` turns a command's arguments into what handlers take. Raises CommandError."""

    name: str
    parse: Callable[[Mapping[str, object]], A]

    def handler(self, carry_out: Callable[[A, Context], Awaitable[Result]]) -> Handler:
        """The handler that parses the arguments and then carries the operation out."""

        async def handle(arguments: Mapping[str, object], context: Context) -> Result:
            return await carry_out(self.parse(arguments), context)

        return handle


def optional_text(arguments: Mapping[str, object], name: str) -> str | None:
    """Raises CommandError where the argument is there and no text."""
    value = arguments.get(name)
    if value is not None and not isinstance(value, str):
        raise CommandError(f"{name} is no text")
    return value


def required_text(arguments: Mapping[str, object], name: str) -> str:
    """Raises CommandError where the argument is missing or no text."""
    value = arguments.get(name)
    if not isinstance(value, str):
        raise CommandError(f"{name} is missing, or no text")
    return value


def optional_count(arguments: Mapping[str, object], name: str, default: int) -> int:
    """Raises CommandError where the argument is there and no whole number from 0."""
    value = arguments.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise CommandError(f"{name} is no number from 0")
    return value
