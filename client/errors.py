"""Errors that reach the caller of a bundled client: the upstream client's own text, and a stable class name."""

from typing import TypeVar


class ClientError(Exception):
    """An operation failed. `text` is what the real client's error prints; `name` its upstream identifier
    (`ErrOutOfBrokers`, `net.OpError`)."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__(text)
        self.name = name
        self.text = text


E = TypeVar("E", bound=Exception)


def without_traceback(error: E) -> E:
    """An error to be stored as a value: without the frames that it was raised through.

    The frames and the error would form a reference cycle, which only the garbage collector could free.
    """
    error.__traceback__ = None
    return error


class SettingError(Exception):
    """A setting that the profile or its release does not have, or a value that its check refuses.

    `suggestion` is the nearest name that exists, None where there is none.
    """

    def __init__(self, name: str, text: str, suggestion: str | None = None) -> None:
        super().__init__(text)
        self.name = name
        self.text = text
        self.suggestion = suggestion
