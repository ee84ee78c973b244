"""The scenario format as a JSON Schema, for editors: with every registered operation, fault, measure and profile."""

from typing import Any

from pydantic import BaseModel

from client.profiles import profiles
from client.profiles.contract import Profile
from client.settings import Setting
from harness.faults import FAULTS
from harness.language.schema import (
    FORMAT,
    MEASURE,
    STATISTICS,
    DoStep,
    HealStep,
    InjectStep,
    ScenarioFile,
    Spread,
    Trigger,
)
from harness.measures import MEASURES
from harness.operations import OPERATIONS, Argument, Operation
from harness.quantities import DURATION_PATTERN

Schema = dict[str, Any]
DURATION: Schema = {"type": "string", "pattern": DURATION_PATTERN}
SIGNED_PATTERN = DURATION_PATTERN.replace("^", "^-?", 1)
ARGUMENTS: dict[str, Schema] = {
    "text": {"type": ["string", "number", "boolean"]},
    "count": {"type": "integer", "minimum": 0},
    "duration": DURATION,
    "size": {"type": "string", "examples": ["512B", "1KiB"]},
}
SETTINGS: dict[str, Schema] = {
    "duration": {"anyOf": [{**DURATION, "pattern": SIGNED_PATTERN}, {"const": 0}]},
    "count": {"type": "integer"},
    "flag": {"type": "boolean"},
    "text": {"type": ["string", "number", "boolean"]},
}


def json_schema() -> Schema:
    """Draft 2020-12. It says less than `load`: what depends on other values (units, aliases, brokers) is not in it."""
    schema = ScenarioFile.model_json_schema(by_alias=True)
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = f"faultlab scenario, format {FORMAT}"
    properties: Schema = schema["properties"]
    properties["steps"]["items"] = {"anyOf": [*map(_do, OPERATIONS.values()), *_injects(), _own(HealStep)]}
    schema["$defs"] |= {model.__name__: model.model_json_schema() for model in (Spread, Trigger)}
    properties["matrix"] = _matrix()
    names = "|".join(sorted(MEASURES))
    expect: Schema = schema["$defs"]["Expect"]
    expect["anyOf"] = [{"required": [key]} for key in (MEASURE, *STATISTICS)]
    for key in (MEASURE, "mean", "quantile"):
        measure: Schema = expect["properties"][key]
        measure["pattern"] = rf"^\s*[A-Za-z][A-Za-z0-9_]*\.({names})(\([^()]*\))?\s*$"
        measure["description"] += ". " + "; ".join(f"{m.name}: {m.about}" for _, m in sorted(MEASURES.items()))
    client: Schema = schema["$defs"]["Client"]["properties"]
    client["profile"] = {"enum": list(profiles()), "description": "A bundled client"}
    schema["allOf"] = [_of_profile(one) for one in profiles().values()]
    cleaned: Schema = _without_null(schema)
    return cleaned


def _without_null(schema: Any) -> Any:
    """Absent keys are left out of a scenario: `key: null` is refused, so editors must not offer it."""
    if isinstance(schema, list):
        return [_without_null(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {k: _without_null(v) for k, v in schema.items() if not (k == "default" and v is None)}
    options = [option for option in kept.get("anyOf", ()) if option != {"type": "null"}]
    if len(options) == 1:
        del kept["anyOf"]
        return {**options[0], **kept}
    return {**kept, "anyOf": options} if options else kept


def _own(model: type[BaseModel]) -> Schema:
    """A step's own keys, without the freedom to add others."""
    schema = model.model_json_schema(by_alias=True)
    schema.pop("$defs", None)
    return {**schema, "additionalProperties": False}


def _do(operation: Operation) -> Schema:
    schema = _own(DoStep)
    own: Schema = schema["properties"]
    own["do"] = {"const": operation.name, "description": operation.about}
    own["expect"] = {"enum": list(operation.expects), "description": "How it has to end"}
    if operation.repeatable:
        own["until"] = {**own["until"], "enum": list(operation.expects)}
    else:
        del own["every"], own["until"]
    own.update({argument.name: _argument(argument) for argument in operation.arguments})
    return {**schema, "title": f"do: {operation.name}", "description": operation.about}


def _argument(argument: Argument) -> Schema:
    return {**ARGUMENTS[argument.kind], "description": argument.about}


def _injects() -> list[Schema]:
    found: list[Schema] = []
    for name, fault in sorted(FAULTS.items()):
        schema, own = _own(InjectStep), fault.model_json_schema(by_alias=True)
        about = (fault.__doc__ or name).strip().splitlines()[0]
        steps: Schema = schema["properties"]
        schema["properties"] = {
            **schema["properties"],
            "inject": {"const": name, "description": about},
            **own.get("properties", {}),
        }
        # A key of both, as `at`: its value says which of the two is meant.
        for key in set(steps) & set(own.get("properties", {})):
            schema["properties"][key] = {"anyOf": [steps[key], own["properties"][key]]}
        schema["required"] = ["inject", *own.get("required", [])]
        found.append({**schema, "title": f"inject: {name}", "description": about})
    return found


def _matrix() -> Schema:
    row = {"type": "object", "minProperties": 1}
    return {
        "description": "settings.X, client.X, cluster.X or <step>.X: lists make a product, or a list of rows",
        "anyOf": [
            {"type": "object", "additionalProperties": {"type": "array", "minItems": 1}},
            {"type": "array", "minItems": 1, "items": row},
        ],
    }


def _of_profile(profile: Profile) -> Schema:
    """Releases and settings that hold where the scenario's client is this profile."""
    settings = {s.name: _setting(s) for release in profile.releases for s in profile.settings.for_release(release)}
    is_this = {"properties": {"client": {"properties": {"profile": {"const": profile.name}}, "required": ["profile"]}}}
    then = {
        "client": {"properties": {"version": {"enum": list(profile.releases)}}},
        "settings": {"properties": settings, "additionalProperties": False},
    }
    return {"if": {**is_this, "required": ["client"]}, "then": {"properties": then}}


def _setting(setting: Setting) -> Schema:
    shape = {"enum": list(setting.choices)} if setting.kind == "choice" else SETTINGS[setting.kind]
    return {**shape, "description": setting.about}
