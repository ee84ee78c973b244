"""What the name server answers to questions for one broker's name."""

from dataclasses import dataclass
from typing import ClassVar

from harness.levers.base import BrokerLever, Evidence, lever, quantity

DARK, REFUSED, DARK_IPV6 = 199, 254, 300
"""Numbers of addresses of no broker, beside those of brokers: one that answers nothing, one at which nobody listens,
and one of IPv6 that answers nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LookupsMet(Evidence):
    """`questions` for a broker's addresses were answered late, or with something else than they are."""

    name: ClassVar[str] = "lookups_met"
    meaning: ClassVar[str] = "questions for names of brokers were answered late or wrongly by the name server"

    questions: int = 0

    def sentence(self) -> str:
        return f"met {quantity(self.amount, 'question')} for names"


@lever("names")
@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerNames(BrokerLever):
    """Questions for one broker's name are answered `delay_s` later, with the addresses of these numbers in this order:
    brokers, or DARK, REFUSED, DARK_IPV6. None: with its own; empty: the name exists and has no address.

    What was asked before it is undone is still answered late. DARK is dark only by another lever; DARK_IPV6 is while
    this one is pulled. Evidence: LookupsMet.
    """

    addresses: tuple[int, ...] | None = None
    delay_s: float = 0.0
