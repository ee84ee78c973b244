"""Protects editors' help: the JSON Schema knows every registered name, and lets every bundled scenario through."""

import json
import re
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter
from ruamel.yaml import YAML

from client.profiles import profiles
from harness.faults import FAULTS
from harness.language import find, json_schema
from harness.measures import MEASURES
from harness.operations import OPERATIONS

SCHEMA = json_schema()
FOLDER = Path(__file__).parents[2] / "scenarios"


def allows(schema: Any, value: Any) -> bool:
    """The part of JSON Schema that ours uses; an unknown keyword is an error, so that nothing is skipped unseen."""
    checks = {
        "$ref": lambda x: allows(SCHEMA["$defs"][x.rsplit("/", 1)[-1]], value),
        "anyOf": lambda x: any(allows(option, value) for option in x),
        "oneOf": lambda x: sum(allows(option, value) for option in x) == 1,
        "allOf": lambda x: all(allows(part, value) for part in x),
        "if": lambda x: not allows(x, value) or allows(schema.get("then", {}), value),
        "type": lambda x: any(isinstance(value, TYPES[t]) and (t == "boolean" or not isinstance(value, bool))
                              for t in ([x] if isinstance(x, str) else x)),
        "const": lambda x: value == x,
        "enum": lambda x: value in x,
        "pattern": lambda x: not isinstance(value, str) or re.search(x, value) is not None,
        "exclusiveMinimum": lambda x: not isinstance(value, int | float) or value > x,
        "exclusiveMaximum": lambda x: not isinstance(value, int | float) or value < x,
        "minimum": lambda x: not isinstance(value, int) or value >= x,
        "maximum": lambda x: not isinstance(value, int) or value <= x,
        "minLength": lambda x: not isinstance(value, str) or len(value) >= x,
        "maxLength": lambda x: not isinstance(value, str) or len(value) <= x,
        "minItems": lambda x: not isinstance(value, list) or len(value) >= x,
        "maxItems": lambda x: not isinstance(value, list) or len(value) <= x,
        "uniqueItems": lambda _: not isinstance(value, list) or len({json.dumps(v) for v in value}) == len(value),
        "items": lambda x: not isinstance(value, list) or all(allows(x, item) for item in value),
        "required": lambda x: not isinstance(value, dict) or set(x) <= set(value),
        "minProperties": lambda x: not isinstance(value, dict) or len(value) >= x,
        "properties": lambda x: not isinstance(value, dict) or all(allows(x[k], v) for k, v in value.items() if k in x),
        "additionalProperties": lambda x: not isinstance(value, dict) or all(
            x is not False and (x is True or allows(x, v))
            for k, v in value.items() if k not in schema.get("properties", {})
        ),
    }  # fmt: skip
    silent = {"$defs", "$schema", "title", "description", "default", "examples", "then"}
    return all(checks[key](wanted) for key, wanted in schema.items() if key not in silent)


TYPES = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "object": dict, "array": list}


def read(path: Path) -> dict[str, Any]:
    return TypeAdapter(dict[str, Any]).validate_python(YAML(typ="safe", pure=True).load(path.read_text()))


def test_every_bundled_scenario_passes() -> None:
    for path in find([FOLDER]):
        assert allows(SCHEMA, read(path)), path


def test_mistakes_that_a_schema_can_know_do_not_pass() -> None:
    good = read(FOLDER / "sarama" / "latency.scenario.yaml")
    assert allows(SCHEMA, good)
    wrong: list[dict[str, Any]] = [
        {**good, "abuot": "x"},
        {**good, "format": 2},
        {**good, "client": {**good["client"], "version": "1.27.3"}},
        {**good, "settings": {"Net.Raed": "1s"}},
        {**good, "settings": {"Net.ReadTimeout": "1:30"}},
        {**good, "steps": [{"do": "sned"}]},
        {**good, "steps": [{"inject": "latency"}]},
        {**good, "steps": [{"inject": "latency", "delay": "1s", "depth": 1}]},
        {**good, "expect": [{"measure": "probe.nothing", "equals": "1s"}]},
        {**good, "repeat": 0},
    ]
    for scenario in wrong:
        assert not allows(SCHEMA, scenario), scenario


def test_the_schema_knows_every_registered_name() -> None:
    text = json.dumps(SCHEMA)
    for name in (*FAULTS, *OPERATIONS, *MEASURES, *profiles()):
        assert name in text
    for profile in profiles().values():
        for release in profile.releases:
            assert release in text
            assert all(setting.name in text for setting in profile.settings.for_release(release))
