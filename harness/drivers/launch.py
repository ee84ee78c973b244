"""The launch record: what a subject gets before it says `ready` (docs/SUBJECT_PROTOCOL.md, Start)."""

from collections.abc import Callable, Mapping

from harness.brokers.names import NAME_SERVER
from harness.brokers.security import security_of
from harness.memo import memoize_last
from harness.plan import ResolvedValue, RunPlan

PROTOCOL_VERSION = 1


def launch_record(plan: RunPlan, advertised_address: Callable[[int], tuple[str, int]]) -> dict[str, object]:
    """The JSON object of FAULTLAB_SUBJECT. `advertised_address` gives a broker's advertised address."""
    addresses = [advertised_address(broker) for broker in plan.client.bootstrap]
    chosen = {} if plan.client.producer is None else {"producer": plan.client.producer}
    named = {"name_server": "{}:{}".format(*NAME_SERVER)} if plan.cluster.names else {}
    return {
        "protocol": PROTOCOL_VERSION,
        "client": plan.client.name,
        "version": plan.client.version,
        "bootstrap": [f"{host}:{port}" for host, port in addresses],
        "topic": plan.cluster.topics[0].name if plan.cluster.topics else None,
        "settings": _settings(plan.settings),
        "seed": plan.seed,
        **chosen,
        **named,
        **security_of(plan.cluster, (advertised_address(broker)[0] for broker in plan.cluster.broker_ids)).launch_keys,
    }


@memoize_last
def _settings(settings: tuple[ResolvedValue, ...]) -> Mapping[str, object]:
    return {setting.name: _value(setting) for setting in settings}


def _value(setting: ResolvedValue) -> str | int | float | bool:
    match setting.unit:
        case "s":
            return setting.text if setting.value is None else setting.value
        case "count":
            if setting.value is None:
                return setting.text
            return int(setting.value) if setting.value.is_integer() else setting.value
        case "bool":
            return bool(setting.value) if setting.value is not None else setting.text.lower() == "true"
        case "text":
            return setting.text
