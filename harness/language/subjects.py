"""The client under test and its settings. The profile's table has the settings and the values that are allowed."""

import shutil
from pathlib import Path

from client.errors import SettingError
from client.profiles import profile as profile_called
from client.profiles import profiles
from client.profiles.contract import Profile
from client.security.credentials import Credentials
from client.settings import Conflict, Setting, SettingValue
from harness.language.clusters import bootstrap_ids
from harness.language.schema import Client
from harness.language.setting_conflicts import report_conflicts
from harness.language.yaml.diagnostics import Diagnostics
from harness.language.yaml.scalars import core_value
from harness.language.yaml.tree import MappingNode, ScalarNode, Tree, at
from harness.plan import ClientPlan, ResolvedValue, Unit
from harness.quantities import QuantityError, duration_text, quote_value, signed_duration_s
from harness.suggestions import did_you_mean

_CREDENTIALS_HINT = "write `cluster: {sasl: [PLAIN]}`, and the lab gives the client a user and a password"
_PLACEHOLDER = Credentials(user="user", password="password")  # noqa: S106 - nobody's
UNITS: dict[str, Unit] = {"duration": "s", "count": "count", "flag": "bool", "choice": "text", "text": "text"}


def client_plan(client: Client, tree: Tree, diagnostics: Diagnostics) -> tuple[ClientPlan, Profile | None] | None:
    """The client under test; None where it is unknown, which is reported."""
    if (client.profile is None) == (client.driver is None):
        message = "a client is a `profile` or has a `driver`"
        hint = "keep one of them" if client.profile else "add profile: sarama"
        diagnostics.add(at(tree, ("profile",), key=True), "client", message, hint)
        return None
    return _bundled(client, tree, diagnostics) if client.profile is not None else _program(client, tree, diagnostics)


def _bundled(client: Client, tree: Tree, diagnostics: Diagnostics) -> tuple[ClientPlan, Profile] | None:
    assert client.profile is not None
    if client.profile not in profiles():
        hint = did_you_mean(client.profile, profiles())
        diagnostics.add(
            at(tree, ("profile",)), "unknown-profile", f"there is no profile {quote_value(client.profile)}", hint
        )
        return None
    profile = profile_called(client.profile)
    for key in ("name", "driver"):
        if getattr(client, key) is not None:
            diagnostics.add(at(tree, (key,), key=True), "client", f"a bundled client takes no `{key}`", "remove it")
    releases = ", ".join(profile.releases)
    if client.version is None:
        diagnostics.add(tree.span, "missing-key", "`version` is missing in `client`", f"one of {releases}")
        return None
    if client.version not in profile.releases:
        message = f"{profile.name} {client.version} is not bundled; releases are never rounded"
        diagnostics.add(at(tree, ("version",)), "unknown-version", message, f"one of {releases}")
        return None
    if client.producer is not None and client.producer not in profile.producers:
        message = f"{profile.name} has no producer {quote_value(client.producer)}"
        hint = f"one of {', '.join(profile.producers)}" if profile.producers else "remove it"
        diagnostics.add(at(tree, ("producer",)), "unknown-producer", message, hint)
        return None
    plan = ClientPlan(
        name=profile.name,
        version=client.version,
        profile=profile.name,
        real=client.real,
        producer=client.producer,
        bootstrap=bootstrap_ids(client.bootstrap),
    )
    return plan, profile


def _program(client: Client, tree: Tree, diagnostics: Diagnostics) -> tuple[ClientPlan, None]:
    assert client.driver is not None
    if client.real:
        diagnostics.add(
            at(tree, ("real",), key=True), "client", "a program of your own is no profile's library", "remove it"
        )
    if client.producer is not None:
        diagnostics.add(
            at(tree, ("producer",), key=True), "client", "only profiles have several producers", "remove it"
        )
    program = client.driver.exec[0]
    if not _found(program, diagnostics.path.parent):
        where = at(tree, ("driver", "exec", 0))
        message = f"there is no program {quote_value(program)}"
        hint = "a path counts from the scenario's folder; make it executable" if "/" in program else "is it on PATH?"
        diagnostics.add(where, "missing-program", message, hint)
    name = client.name or Path(program).name
    argv = tuple(client.driver.exec)
    return ClientPlan(
        name=name,
        version=client.version or "",
        argv=argv,
        bootstrap=bootstrap_ids(client.bootstrap),
        pass_env=tuple(client.driver.pass_env),
    ), None


def _found(program: str, folder: Path) -> bool:
    try:
        return shutil.which(str((folder / program).absolute()) if "/" in program else program) is not None
    except (OSError, ValueError):
        return False


def settings(
    tree: Tree | None,
    profile: Profile | None,
    version: str,
    diagnostics: Diagnostics,
    *,
    refused: bool = False,
    authenticated: bool = False,
) -> tuple[ResolvedValue, ...]:
    """Every setting with its value, defaults filled in. A setting with a problem is reported and keeps its default.

    `refused`: that the client refuses them is what the scenario is about. `authenticated`: the cluster asks clients who
    they are, and so gives this one credentials.
    """
    entries = tree.entries if isinstance(tree, MappingNode) else {}
    if profile is None:
        free = tuple(_free(name, entry.value, diagnostics) for name, entry in entries.items())
        return tuple(named for named in free if named is not None)
    table = profile.settings
    given: dict[str, SettingValue] = {}
    texts: dict[str, str] = {}
    for name, entry in entries.items():
        try:
            setting = table.find(name, version)
        except SettingError as error:
            hint = f"did you mean {error.suggestion}?" if error.suggestion else ""
            diagnostics.add(entry.key.span, "unknown-setting", error.text, hint)
            continue
        value = _value(setting, entry.value, diagnostics)
        if value is None:
            continue
        try:
            table.check(name, value, version)
        except SettingError as error:
            hint = f"did you mean {error.suggestion}?" if error.suggestion else ""
            diagnostics.add(entry.value.span, "setting-value", error.text, hint)
            continue
        if profile.credentials is not None and name == profile.credentials[1] and value != "":
            message = f"{name} is a secret, and every result would show it"
            diagnostics.add(entry.value.span, "secret", message, f"remove it: {_CREDENTIALS_HINT}")
            continue
        given[name] = value
        assert isinstance(entry.value, ScalarNode)
        texts[name] = entry.value.text
    resolved = table.resolve(given, version)
    if len(given) == len(entries) and not refused:
        asked = table.resolve(profile.with_credentials(given, _PLACEHOLDER if authenticated else None), version)
        lacking: list[Conflict] = []
        conflicts: list[Conflict] = []
        for conflict in profile.conflicts(asked):
            (lacking if conflict.other in (profile.credentials or ()) else conflicts).append(conflict)
        report_conflicts(conflicts, entries, diagnostics)
        if lacking and tree is not None:
            place = entries.get(lacking[0].setting)
            where = tree.span if place is None else place.value.span
            message = "the client is set to authenticate, but the cluster has no `sasl`"
            diagnostics.add(where, "no-credentials", message, _CREDENTIALS_HINT)
    as_written = {name: text for name, text in texts.items() if resolved[name] == given[name]}
    return tuple(_named(s, resolved[s.name], as_written.get(s.name)) for s in table.for_release(version))


def _value(setting: Setting, tree: Tree, diagnostics: Diagnostics) -> SettingValue | None:
    """The scenario's value as the profile wants it; None where it is none: `diagnostics` says why."""
    if not isinstance(tree, ScalarNode) or tree.value is None:
        diagnostics.add(tree.span, "setting-value", f"{setting.name} is one value", _example(setting))
        return None
    value = tree.value
    if setting.kind == "duration":
        try:
            return signed_duration_s(tree.text)
        except QuantityError as error:
            diagnostics.add(tree.span, "quantity", f"{setting.name}: {error.text}", error.hint)
            return None
    if setting.kind == "count" and (isinstance(value, bool) or not isinstance(value, int)):
        wanted = "a whole number"
    elif setting.kind == "flag" and not isinstance(value, bool):
        wanted = "true or false"
    else:
        return tree.text if setting.kind in ("choice", "text") else value
    quoted = isinstance(value, str) and _fits(setting, tree.text)
    hint = f"write {tree.text} without quotes" if quoted else _example(setting)
    told = "a text" if quoted else quote_value(tree.text)
    diagnostics.add(tree.span, "setting-value", f"{setting.name} is {wanted}, not {told}", hint)
    return None


def _fits(setting: Setting, text: str) -> bool:
    """Whether the text would be right if it stood there without quotes."""
    value, wrong = core_value(text)
    return wrong is None and type(value) is (bool if setting.kind == "flag" else int)


def _example(setting: Setting) -> str:
    return f"write {_text(setting, setting.default)}, its default, or another" if setting.default != "" else ""


def _text(setting: Setting, value: SettingValue) -> str:
    if setting.kind == "duration":
        return duration_text(float(value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _named(setting: Setting, value: SettingValue, text: str | None) -> ResolvedValue:
    unit = UNITS[setting.kind]
    number = None if unit == "text" else float(value)
    return ResolvedValue(name=setting.name, text=text or _text(setting, value), unit=unit, value=number)


def _free(name: str, tree: Tree, diagnostics: Diagnostics) -> ResolvedValue | None:
    """A setting of a user's program, whose unit follows from its form."""
    if not isinstance(tree, ScalarNode) or tree.value is None:
        diagnostics.add(
            tree.span, "setting-value", f"{name} is one value", "write a duration, a number, true, false or a text"
        )
        return None
    if isinstance(tree.value, bool):
        return ResolvedValue(name=name, text=tree.text, unit="bool", value=float(tree.value))
    if isinstance(tree.value, int | float):
        return ResolvedValue(name=name, text=tree.text, unit="count", value=float(tree.value))
    try:
        return ResolvedValue(name=name, text=tree.text, unit="s", value=signed_duration_s(tree.text))
    except QuantityError:
        return ResolvedValue(name=name, text=tree.text, unit="text")
