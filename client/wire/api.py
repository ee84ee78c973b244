"""An API of the protocol: its key, its two bodies, and the versions that can be spoken. One file each in `apis/`."""

from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, TypeVar

from client.extensions import modules

Q = TypeVar("Q")
R = TypeVar("R")


@dataclass(frozen=True, slots=True, kw_only=True)
class Api(Generic[Q, R]):
    """`module` is the schema's name (`list_offsets`), `versions` those that both schema and bodies have.

    `cacheable` marks an API whose messages come again and again with the same bytes: encoded and decoded ones are kept.
    """

    key: int
    module: str
    request: type[Q]
    response: type[R]
    versions: range
    cacheable: bool = False

    @property
    def name(self) -> str:
        """The name in Apache Kafka's protocol guide: `ListOffsets`."""
        return _camel_case(self.module)


@cache
def _camel_case(words: str) -> str:
    return "".join(word.capitalize() for word in words.split("_"))


@cache
def apis() -> dict[int, Api[Any, Any]]:
    """Every API by its key: each module in `client.wire.apis` holds one."""
    found: dict[int, Api[Any, Any]] = {}
    for module in modules("client.wire.apis", "apis"):
        for value in vars(module).values():
            if isinstance(value, Api):
                if value.key in found and found[value.key] is not value:
                    raise TypeError(f"two APIs have the key {value.key}: {found[value.key].name} and {value.name}")
                found[value.key] = value
    return found


@cache
def api_for_body(body: type) -> Api[Any, Any]:
    """The API that this request or response body belongs to. Raises KeyError."""
    for api in apis().values():
        if body in (api.request, api.response):
            return api
    raise KeyError(body.__name__)
