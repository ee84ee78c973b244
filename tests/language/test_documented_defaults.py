"""Protects docs/FAULTS.md: a default stands there as a scenario may write it."""

import re
from typing import Annotated

import pytest
import yaml
from pydantic import TypeAdapter

from harness.faults import FAULTS
from harness.language.fault_reference import reference

PAGE = reference()


def documented(fault: str) -> dict[str, str]:
    """What the page gives as the defaults of a fault's parameters, without those that it says in a word."""
    section = PAGE.split(f"\n## {fault}\n")[1].split("\n## ")[0]
    return dict(re.findall(r"^\| `(\w+)` \| `([^`]+)` \|", section, re.MULTILINE))


@pytest.mark.parametrize("fault", sorted(name for name, _ in FAULTS.items()))
def test_a_default_reads_back_as_itself(fault: str) -> None:
    for parameter, text in documented(fault).items():
        info = FAULTS[fault].model_fields[parameter]
        field = TypeAdapter(Annotated[info.annotation, None, *info.metadata])
        assert field.validate_python(yaml.safe_load(text)) == info.get_default(call_default_factory=True), parameter


def test_quantities_carry_their_unit() -> None:
    assert documented("kill")["election"] == "9s"
    assert documented("reorder")["delay"] == "10ms"
    assert documented("duplicate")["chance"] == "100%"
    assert documented("timeout")["timeout"] == "0s"
