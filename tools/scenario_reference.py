"""Makes docs/SCENARIOS.md from the schema's models: `.venv/bin/python tools/scenario_reference.py` writes it."""

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from harness.language.schema import (
    Client,
    Cluster,
    DoStep,
    Driver,
    Expect,
    HealStep,
    InjectStep,
    ScenarioFile,
    Spread,
    TopicShape,
    Trigger,
)
from harness.measures import MEASURES
from harness.operations import OPERATIONS

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "SCENARIOS.md"
EXAMPLES = tuple(
    ROOT / "docs" / "examples" / f"{name}.scenario.yaml" for name in ("every-key", "own-program", "tls", "names")
)
SECTIONS: Mapping[str, tuple[str, type[BaseModel]]] = {
    "The file": ("", ScenarioFile),
    "`client`": ("", Client),
    "`client.driver`": ("", Driver),
    "`cluster`": ("", Cluster),
    "`cluster.topics`": ("", TopicShape),
    "A step that does something": (
        "What operations take besides stands below. A step begins when the one before has ended, unless it says `at` or"
        " `after`.",
        DoStep,
    ),
    "A step that injects a fault": ("Faults and their parameters: [FAULTS.md](FAULTS.md).", InjectStep),
    "A request that injects a fault": ("`trigger: {request: produce, broker: 1, nth: 2}`.", Trigger),
    "A step that heals a fault": ("", HealStep),
    "A time that is drawn": ("Wherever `after` stands: `after: {uniform: [0s, 1s]}`.", Spread),
    "`expect`": ("How expectations are judged: [EXPECTATIONS.md](EXPECTATIONS.md).", Expect),
}
HEAD = """\
# Scenarios

Every key of a scenario file. This page is made from the schema by `tools/scenario_reference.py`; a test fails where the
two differ, and another where an example below is refused or a key has none. `faultlab validate FILE` says every mistake
with its line; `faultlab schema` prints the JSON Schema, for editors.

Durations have a unit: `500us`, `250ms`, `2s`, `1m`. Formulas are sums and products over the client's own settings:
`2*Net.ReadTimeout + 100ms`; `formula(name)` cites a named one. Parameters of steps
are `outage.delay` or `probe.deadline`; a fault's `for` is `outage.lasts`.
"""
MATRIX = """\
| `matrix` | lists or rows | what is varied: `settings.X`, `client.X`, `cluster.X` or `<step>.X`. Lists make a product; a list of rows, such as `[{settings.X: 1s, cluster.brokers: 3}]`, is taken as it is. Each combination is a case with its own run id |
"""  # noqa: E501 - a row of a table


def page() -> str:
    """The whole page."""
    return "\n".join([HEAD, *_examples(), *_sections(), *_operations(), *_measures()])


def _examples() -> Iterator[str]:
    yield "## Examples\n"
    for file in EXAMPLES:
        yield f"[{file.name}](examples/{file.name}):\n\n```yaml\n{file.read_text(encoding='utf-8')}```\n"


def _sections() -> Iterator[str]:
    for title, (note, model) in SECTIONS.items():
        about = " ".join((model.__doc__ or "").split())
        yield f"## {title}\n\n{about}{' ' if about and note else ''}{note}\n"
        rows = [_row(name, key) for name, key in keys_of(model).items()]
        more = MATRIX if model is ScenarioFile else ""
        yield "| key | value | meaning |\n| --- | --- | --- |\n" + "".join(rows) + more


def keys_of(model: type[BaseModel]) -> dict[str, Mapping[str, Any]]:
    """Each key as a file writes it, with its JSON Schema; `needed` where it cannot be left out."""
    schema = model.model_json_schema(by_alias=True)
    needed = schema.get("required", ())
    return {name: {**key, "needed": name in needed} for name, key in schema["properties"].items()}


def _row(name: str, key: Mapping[str, Any]) -> str:
    meaning = key.get("description", "")
    default = key.get("default")
    parts = [
        meaning,
        "needed" if key["needed"] else "",
        f"default `{json.dumps(default)}`" if default not in (None, False, [], {}, "") else "",
    ]
    return f"| `{name}` | {_kind(key)} | {_cell('; '.join(part for part in parts if part))} |\n"


def _kind(key: Mapping[str, Any]) -> str:
    """The shape of a value, in a word or two."""
    options = [one for one in key.get("anyOf", key.get("oneOf", [key])) if one != {"type": "null"}]
    words = dict.fromkeys(_word(one) for one in options)
    return _cell(" or ".join(words))


def _word(schema: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2].removesuffix("Shape").lower()
    if "const" in schema:
        return f"`{schema['const']}`"
    if schema.get("type") == "array":
        items = schema.get("items") or {}
        return f"list of {_kind(items)}" if items else "list"
    kind = {"object": "mapping", "string": "text", "boolean": "`true` or `false`"}
    name = str(schema.get("type", "text"))
    return kind.get(name, name)


def _operations() -> Iterator[str]:
    yield "## What a client can be asked to do\n"
    rows = [
        f"| `{one.name}` | {_cell(', '.join(f'`{a.name}`: {a.about}' for a in one.arguments) or '')} | "
        f"{_cell(', '.join(f'`{word}`' for word in one.expects))} | {_cell(one.about)} |\n"
        for _, one in sorted(OPERATIONS.items())
    ]
    yield "| `do:` | keys of its own | `expect:` | meaning |\n| --- | --- | --- | --- |\n" + "".join(rows)


def _measures() -> Iterator[str]:
    yield "## What can be measured\n\n`<step>.<measure>`; how each is taken: [EXPECTATIONS.md](EXPECTATIONS.md).\n"
    rows = [f"| `{name}` | {one.unit} | {_cell(one.about)} |\n" for name, one in sorted(MEASURES.items())]
    yield "| measure | unit | meaning |\n| --- | --- | --- |\n" + "".join(rows)


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def main() -> int:
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
