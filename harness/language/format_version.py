"""Which format a file says that it has: of another one nothing else can be judged, and it is not read on."""

from harness.language.schema import FORMAT
from harness.language.yaml.diagnostics import Diagnostics
from harness.language.yaml.tree import MappingNode, ScalarNode
from harness.quantities import quote_value


def has_other_format(tree: MappingNode, diagnostics: Diagnostics) -> bool:
    """Whether the file is of another format than FORMAT: then `diagnostics` says so. One that says none is read on."""
    given = tree.get("format")
    if given is None:
        return False
    value = given.value if isinstance(given, ScalarNode) else None
    number = value if isinstance(value, int) and not isinstance(value, bool) else None
    if number == FORMAT:
        return False
    newer = number is not None and number > FORMAT
    told = "a list or mapping"
    if isinstance(given, ScalarNode):
        told = str(number) if number is not None else quote_value(given.text) if given.text else "nothing"
    here = f"write format: {FORMAT}"
    hint = f"upgrade faultlab if it was written for a newer one; if not, {here}" if newer else here
    diagnostics.add(given.span, "format", f"this faultlab reads format {FORMAT}, not {told}", hint)
    return True
