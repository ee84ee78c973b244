"""The bootstrap list of a question: how many addresses of members, and how many of nobody."""

from harness.explaining.cases import ExplainableCase
from harness.explaining.configured_case import InvalidQuestion, Mistake, Question
from harness.suggestions import did_you_mean

DEAD, REFUSED = "dead", "refused"
"""Names that a question gives numbers of addresses by: those that never answer, and those that refuse dials."""
DARK = "dark"
"""What a scenario writes for an address that never answers."""


def addresses(case: ExplainableCase, question: Question) -> tuple[str, ...]:
    """The list as a scenario would write it; what is not given is as in the case's. Raises InvalidQuestion."""
    for name in question.given:
        meant = did_you_mean(name, (DEAD, REFUSED))
        if "." not in name and name not in (DEAD, REFUSED) and meant.startswith("did"):
            raise InvalidQuestion(Mistake(f"{name} is no number of addresses", meant))
    written = case.addresses
    if question.bootstrap is None and not {DEAD, REFUSED} & question.given.keys():
        return written  # whose members a fault may name
    whole = question.bootstrap or len(written)
    dead = _number(question, DEAD, min(written.count(DARK), whole))
    asked = question.bootstrap is not None or DEAD in question.given
    refused = _number(question, REFUSED, 0 if asked else written.count(REFUSED))
    if dead + refused > whole:
        names = " and ".join(f"{name}={question.given[name]}" for name in (DEAD, REFUSED) if name in question.given)
        of = "1 bootstrap address" if whole == 1 else f"{whole} bootstrap addresses"
        raise InvalidQuestion(
            Mistake(f"{names}: there are only {of}", f"write --bootstrap {dead + refused}, or a smaller number")
        )
    live = whole - dead - refused
    return (*(str(broker) for broker in range(1, live + 1)), *[DARK] * dead, *[REFUSED] * refused)


def without_addresses(question: Question) -> dict[str, str]:
    """What else is given."""
    return {name: text for name, text in question.given.items() if name not in (DEAD, REFUSED)}


def _number(question: Question, name: str, default: int) -> int:
    text = question.given.get(name)
    if text is None:
        return default
    if not text.isascii() or not text.isdigit():
        raise InvalidQuestion(Mistake(f"{name} is a number of addresses, not `{text[:40]}`", f"write --set {name}=2"))
    return int(text)
