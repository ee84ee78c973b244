"""Plans for the simulated environment: a Sarama producer on a small cluster, steps as a test wants them."""

from pathlib import Path

from client.profiles import profile
from harness.plan import ClientPlan, ClusterShape, ResolvedValue, RunPlan, Step, Topic

GIVEN = {"Net.DialTimeout": 1.0, "Net.ReadTimeout": 2.0, "Net.WriteTimeout": 3.0, "Producer.RequiredAcks": "WaitForAll"}
_UNITS = {"duration": "s", "count": "count", "flag": "bool"}


def plan(
    *steps: Step,
    brokers: int = 1,
    seed: int = 7,
    version: str = "1.27.2",
    tls: bool = False,
    sasl: tuple[str, ...] = (),
    **settings: object,
) -> RunPlan:
    """`settings` have `_` where Sarama's names have a dot."""
    table = profile("sarama").settings
    given = {**GIVEN, **{name.replace("_", "."): value for name, value in settings.items()}}
    values = table.resolve(given, version)
    named = []
    for setting in table.for_release(version):
        unit = _UNITS.get(setting.kind, "text")
        value = values[setting.name]
        number = float(value) if unit != "text" else None
        named.append(ResolvedValue(name=setting.name, text=str(value), unit=unit, value=number))
    return RunPlan(
        run_id="0123456789ab",
        scenario="a-test",
        path=Path("a-test.scenario.yaml"),
        about="",
        tags=(),
        environment="sim",
        client=ClientPlan(name="sarama", version=version, profile="sarama"),
        settings=tuple(named),
        given_settings=tuple(given),
        parameters=(),
        cluster=ClusterShape(brokers=brokers, topics=(Topic(name="orders"),), tls=tls, sasl=sasl),
        steps=steps,
        expectations=(),
        seed=seed,
        repeat=0,
    )
