"""Which way a fault works: towards the brokers, towards the client, or both."""

from typing import Annotated

from pydantic import BeforeValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from harness.levers import FLOWS, Flow
from harness.quantities import quote_value


def _flows(value: object) -> object:
    listed = value if isinstance(value, list | tuple) else [value]
    for item in listed:
        if item not in FLOWS:
            raise PydanticCustomError(
                "flows", "{text}", {"text": f"{quote_value(item)} is no flow", "hint": f"write {' or '.join(FLOWS)}"}
            )
    if not listed or len(set(listed)) != len(listed):
        raise PydanticCustomError("flows", "{text}", {"text": "name each flow once", "hint": "write [to_broker]"})
    return tuple(flow for flow in FLOWS if flow in listed)  # in one order, whichever they were named in


Flows = Annotated[
    tuple[Flow, ...],
    BeforeValidator(_flows),
    WithJsonSchema(
        {"type": "array", "items": {"enum": list(FLOWS)}, "minItems": 1, "uniqueItems": True, "default": list(FLOWS)}
    ),
    Field(description="`to_broker`, `to_client` or both"),
]
"""A field that selects flows: both where nothing is said."""
