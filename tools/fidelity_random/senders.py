"""Messages by chance: several senders on several partitions, one after the other or at once."""

from collections.abc import Callable, Iterator, Sequence
from random import Random

from tools.fidelity_random.chance import Step, likely, time
from tools.fidelity_random.shape import Shape

GIVE_UP_AFTER_S = 60
SIZES = ("200B", "20KiB", "300KiB", "700KiB")
AT_ONCE = 0.2
"""The part of the messages that are sent at the moment at which the step before ends: beside the one before it, or at a
fault's very beginning."""
SOON_S, LATER_S = (0.002, 0.02), (0.02, 0.3)
"""How long after it the others are."""


def warm_up(partitions: Sequence[int], **arguments: object) -> Iterator[Step]:
    """A message to each of these, so that every connection is there."""
    for partition in dict.fromkeys(partitions):
        yield {"do": "send", "partition": partition, "as": f"warm{partition}", "expect": "acknowledged", **arguments}


def burst(
    rng: Random, name: str, partitions: Sequence[int], arguments: Callable[[Random], Step] = lambda _: {}
) -> Iterator[Step]:
    """A message for each partition given; all but the last are under way while the next one is sent."""
    for index, partition in enumerate(partitions):
        step: Step = {"do": "send", "partition": partition, "as": f"{name}{index}"}
        if likely(rng, 0.4):
            step["size"] = rng.choice(SIZES)
        if not likely(rng, AT_ONCE):
            step["after"] = time(rng, *rng.choice((SOON_S, LATER_S)))
        if index < len(partitions) - 1:
            step["background"] = True
        yield {**step, **arguments(rng), "give_up_after": f"{GIVE_UP_AFTER_S}s"}


def draw_partitions(rng: Random, shape: Shape, most: int) -> list[int]:
    """One for each message, in the order of sending."""
    return [rng.randrange(len(shape.leaders)) for _ in range(rng.randint(1, most))]


def expectations(steps: Sequence[Step], within_s: int = GIVE_UP_AFTER_S) -> list[dict[str, object]]:
    """What is compared: how long each operation takes that is no preparation, and with that its end and its dials.
    `within_s` is when it is given up: one that hangs fails, and is compared."""
    return [
        {"measure": f"{step['as']}.time_to_end", "at_most": f"{within_s - 1}s", "name": f"{step['as']}-ends",
         "source": "drawn by chance"}
        for step in steps
        if "do" in step and "expect" not in step
    ]  # fmt: skip
