"""Which brokers a fault touches: the selectors that a fault's parameters accept wherever brokers are named."""

import re
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Annotated, TypeVar

from pydantic import BaseModel, BeforeValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from harness.cluster_view import ClusterView, PartitionView
from harness.quantities import quote_value
from harness.suggestions import did_you_mean

ALL, OTHERS, CONTROLLER = "all", "others", "controller"
_LEADER = re.compile(r"leader\(([A-Za-z0-9._-]+)/(\d+)\)")
_RANDOM = re.compile(r"random\(([1-9]\d*)\)")
_ITEM = re.compile(f"{CONTROLLER}|{_LEADER.pattern}|{_RANDOM.pattern}")
_HINT = "write all, a list such as [1, 3], leader(orders/0), controller, random(1) or others"

SELECTORS = {
    "all": "every broker of the cluster",
    "[1, 3]": "these; a list may also hold `leader(...)`, `controller` and `random(...)`",
    "leader(orders/0)": "the leader of this partition when the fault is injected",
    "controller": "the controller when the fault is injected",
    "random(2)": "so many brokers by the run's seeded chance; in a list, of those that its other items do not select",
    "others": "every broker on which no other fault of the run is in force when the fault is injected",
}
"""What a scenario may write to select brokers, and what it means."""

Selector = str | tuple[int | str, ...]
Parameters = TypeVar("Parameters", bound=BaseModel)


class SelectorError(ValueError):
    """A selector means no brokers of this cluster. `code` names the problem, `item` is the part of the selector."""

    def __init__(self, code: str, text: str, hint: str, item: int | str) -> None:
        super().__init__(text)
        self.code = code
        self.hint = hint
        self.item = item


def _selector(value: object) -> object:
    if value in (ALL, OTHERS):
        return value
    wrong = ""
    if isinstance(value, str):
        wrong = "" if _ITEM.fullmatch(value) else f"{quote_value(value)} selects no brokers"
    elif not isinstance(value, list | tuple):
        wrong = f"{quote_value(value)} selects no brokers"
    elif not value:
        wrong = "an empty list selects no brokers"
    elif any(item in (ALL, OTHERS) for item in value):
        wrong = "`all` and `others` stand alone, not in a list"
    elif not all((type(item) is int and item >= 1) or (type(item) is str and _ITEM.fullmatch(item)) for item in value):
        wrong = "brokers are numbered 1, 2, 3"
    if wrong:
        raise PydanticCustomError("selector", "{text}", {"text": wrong, "hint": _HINT})
    return tuple(value) if isinstance(value, list | tuple) else value


_ITEM_SCHEMA = {"type": "string", "pattern": f"^({_ITEM.pattern})$"}

_VALIDATED = BeforeValidator(_selector)

Brokers = Annotated[
    Selector,
    _VALIDATED,
    WithJsonSchema(
        {
            "anyOf": [
                {"enum": [ALL, OTHERS]},
                _ITEM_SCHEMA,
                {
                    "type": "array",
                    "items": {"anyOf": [{"type": "integer", "minimum": 1}, _ITEM_SCHEMA]},
                    "minItems": 1,
                },
            ]
        }
    ),
    Field(description="Which brokers: `all`, a list such as [1, 3], or another selector (see above)"),
]
"""A field that selects brokers, by SELECTORS."""


def depends_on_cluster(parameters: BaseModel) -> bool:
    """Whether a selector in a fault's parameters means other brokers in another state of the cluster, or by chance."""
    for name, field in type(parameters).model_fields.items():
        selector = getattr(parameters, name) if _VALIDATED in field.metadata else ALL
        if selector != ALL and (isinstance(selector, str) or any(isinstance(item, str) for item in selector)):
            return True
    return False


def without_chance(parameters: Parameters, view: ClusterView) -> Iterator[Parameters]:
    """A fault's parameters with all that the run's chance may choose in this cluster."""
    for name, field in type(parameters).model_fields.items():
        selector = getattr(parameters, name)
        items = selector if isinstance(selector, tuple) else (selector,)
        drawn = [match for item in items if isinstance(item, str) and (match := _RANDOM.fullmatch(item))]
        if _VALIDATED in field.metadata and drawn:
            numbers = [int(match[1]) for match in drawn]
            try:
                named = tuple(broker for item in items for broker in _named(item, view))
                _drawn(sum(numbers), selector, named, view)
            except SelectorError:
                break  # it selects no brokers
            for chosen in _draws(named, numbers, view.brokers):
                yield from without_chance(parameters.model_copy(update={name: chosen}), view)
            return
    yield parameters


def _draws(chosen: tuple[int, ...], numbers: Sequence[int], members: Sequence[int]) -> Iterator[tuple[int, ...]]:
    if not numbers:
        yield chosen
        return
    left = [broker for broker in members if broker not in chosen]
    for drawn in combinations(left, numbers[0]):
        yield from _draws((*chosen, *drawn), numbers[1:], members)


def select_brokers(selector: Selector, view: ClusterView) -> tuple[int, ...]:
    """The broker ids that a selector means in this cluster. Raises SelectorError."""
    if selector == ALL:
        return view.brokers
    if selector == OTHERS:
        return _others(view)
    items: Sequence[int | str] = (selector,) if isinstance(selector, str) else selector
    chosen = [broker for item in items for broker in _named(item, view)]
    for item in items:
        if isinstance(item, str) and (drawn := _RANDOM.fullmatch(item)):
            chosen += _drawn(int(drawn[1]), item, chosen, view)
    return tuple(dict.fromkeys(chosen))


def _named(item: int | str, view: ClusterView) -> tuple[int, ...]:
    """The brokers that an item names, without chance."""
    if isinstance(item, int):
        if item not in (*view.brokers, *view.departed):
            raise SelectorError("no-such-broker", f"there is no broker {item}", which_brokers(view), item)
        return (item,)
    if item == CONTROLLER:
        return (view.controller,)
    led = _LEADER.fullmatch(item)
    if led is None:
        return ()
    leader = partition_of(led[1], int(led[2]), item, view).leader
    if leader is None:
        raise SelectorError("no-leader", f"{led[1]}/{led[2]} has no leader", "name a broker by its number", item)
    return (leader,)


def partition_of(topic: str, partition: int, item: str, view: ClusterView) -> PartitionView:
    if topic not in view.topics:
        text = f"the cluster has no topic {quote_value(topic)}"
        raise SelectorError("unknown-topic", text, did_you_mean(topic, view.topics), item)
    partitions = view.topics[topic]
    if partition >= len(partitions):
        hint = f"partitions are 0 to {len(partitions) - 1}"
        raise SelectorError("unknown-partition", f"{topic} has no partition {partition}", hint, item)
    return partitions[partition]


def _drawn(number: int, item: str, besides: Sequence[int], view: ClusterView) -> list[int]:
    left = [broker for broker in view.brokers if broker not in besides]
    if number > len(left):
        text = f"there are not {number} brokers to choose from"
        raise SelectorError("no-such-broker", text, f"choose at most {len(left)}" if left else "all are named", item)
    return view.chance().sample(left, number)


def _others(view: ClusterView) -> tuple[int, ...]:
    left = tuple(broker for broker in view.brokers if broker not in view.selected)
    if not left:
        text = "no broker without a fault is left for `others`"
        raise SelectorError("no-such-broker", text, "heal an earlier fault before", OTHERS)
    return left


def which_brokers(view: ClusterView) -> str:
    """The hint where a broker does not exist."""
    first, last = view.brokers[0], view.brokers[-1]
    return f"brokers are {first} to {last}" if first != last else f"the only broker is {first}"
