"""Which brokers a fault touches: the selector that every fault's `brokers:` accepts."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from harness.quantities import quote_value


class UnknownBroker(ValueError):
    """A selector names a broker that the cluster does not have. `hint` says which there are."""

    def __init__(self, broker: int, cluster: tuple[int, ...]) -> None:
        super().__init__(f"there is no broker {broker}")
        self.broker = broker
        self.hint = f"brokers are {cluster[0]} to {cluster[-1]}" if len(cluster) > 1 else "the only broker is 1"


def _selector(value: object) -> object:
    if value == "all":
        return value
    wrong = ""
    if not isinstance(value, list | tuple):
        wrong = f"{quote_value(value)} selects no brokers"
    elif not value:
        wrong = "an empty list selects no brokers"
    elif not all(type(item) is int and item >= 1 for item in value):
        wrong = "brokers are numbered 1, 2, 3"
    elif len(set(value)) != len(value):
        wrong = "a broker is named twice"
    if wrong:
        raise PydanticCustomError("selector", "{text}", {"text": wrong, "hint": "write all, or a list such as [1, 3]"})
    assert isinstance(value, list | tuple)
    return tuple(value)


Brokers = Annotated[
    Literal["all"] | tuple[int, ...],
    BeforeValidator(_selector),
    WithJsonSchema(
        {"anyOf": [{"const": "all"}, {"type": "array", "items": {"type": "integer", "minimum": 1}, "minItems": 1}]}
    ),
    Field(description="`all`, or a list of broker numbers such as [1, 3]"),
]
"""A field that selects brokers: the word `all`, or their numbers."""


def select_brokers(selector: Literal["all"] | tuple[int, ...], cluster: tuple[int, ...]) -> tuple[int, ...]:
    """The broker ids that a selector means in this cluster. Raises UnknownBroker."""
    if selector == "all":
        return cluster
    for broker in selector:
        if broker not in cluster:
            raise UnknownBroker(broker, cluster)
    return selector
