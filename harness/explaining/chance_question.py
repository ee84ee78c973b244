"""Which case chance decides, and what its distribution is asked with."""

from dataclasses import replace

from harness.explaining.addresses import addresses, without_addresses
from harness.explaining.assumptions import Assumption, assume, assumptions, of_release
from harness.explaining.cases import CaseCatalogue, ChanceCase
from harness.explaining.configured_case import ConfiguredCase, InvalidQuestion, Mistake, Question, configure_case
from harness.explaining.conjuncts import failing_conjuncts
from harness.explaining.explanation import select_case


def decided_by_chance(cases: CaseCatalogue, word: str, question: Question) -> ChanceCase | None:
    """The case of this fault, or of this name, whose distribution answers the question: where a formula says what every
    call costs, None does."""
    found = cases.chance_cases_for(word)
    if not cases.cases_for(word):
        return next(iter(found), None)
    try:
        select_case(cases, word, question)
    except InvalidQuestion:
        return next((one for one in found if holds(one, question)), None)
    return None


def holds(case: ChanceCase, question: Question) -> bool:
    """Whether its distribution answers the question, whatever it has to assume for that."""
    try:
        assumed_for(case, question)
    except InvalidQuestion:
        return False
    return True


def assumed_for(case: ChanceCase, question: Question) -> tuple[Assumption, ...]:
    """The modes of the case's scenario without which its distribution does not hold. Raises InvalidQuestion where it
    holds with none."""
    configured = configure_chance(case, question)
    lacking = missing(case, configured)
    if not lacking:
        return ()
    assumed = assumptions(configured, question, lacking)
    still = missing(case, configure_chance(case, assume(question, assumed))) if assumed else lacking
    if not still:
        return assumed
    client = f"{configured.plan.client.name} {configured.plan.client.version}"
    if of_release(lacking):
        raise InvalidQuestion(Mistake(f"no distribution says yet what this costs {client}", "another release?"))
    told = f"what is known of {case.case.name} does not hold here: it is not so that {' and '.join(lacking)}"
    raise InvalidQuestion(Mistake(told))


def configure_chance(case: ChanceCase, question: Question) -> ConfiguredCase:
    """The case as asked, whether its distribution holds or not. Raises InvalidQuestion."""
    asked = replace(question, given=without_addresses(question))
    return configure_case(case.case, asked, addresses(case.case, question))


def missing(case: ChanceCase, configured: ConfiguredCase) -> tuple[str, ...]:
    """What keeps the distribution from holding."""
    when = case.distribution.condition
    return () if when is None else failing_conjuncts(when, configured, "0s")
