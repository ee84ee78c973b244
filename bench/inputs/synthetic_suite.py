"""Synthetic records of a suite: those of a Sarama producer whose brokers are blackholed (waits, dials, back-offs, a
small seeded jitter)."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.records.agreement import AgreementRecord, SideComparison, SideResult
from harness.records.event import EventRecord
from harness.records.group import GroupRecord
from harness.records.line import encode_line
from harness.records.manifest import Manifest
from harness.records.run import (
    ExpectationResult,
    FaultRecord,
    KernelRecord,
    MeasureRecord,
    NamedValue,
    NoiseRecord,
    OperationRecord,
    Record,
    RunRecord,
    Term,
)

READ, DIAL, PRODUCER_BACKOFF, METADATA_BACKOFF = (
    "Net.ReadTimeout",
    "Net.DialTimeout",
    "Producer.Retry.Backoff",
    "Metadata.Retry.Backoff",
)
SECONDS = {READ: 2.0, DIAL: 1.0, PRODUCER_BACKOFF: 0.1, METADATA_BACKOFF: 0.25, "Admin.Timeout": 0.4}
METADATA_RETRIES = 3
FORMULA = (
    "2*Net.ReadTimeout + (client.bootstrap.count - 1)*Net.DialTimeout + cluster.brokers*Net.DialTimeout "
    "+ Metadata.Retry.Max*client.bootstrap.count*Net.DialTimeout + Producer.Retry.Backoff "
    "+ Metadata.Retry.Max*Metadata.Retry.Backoff"
)
CLAIM = "Net.WriteTimeout + 4*Net.DialTimeout"


@dataclass
class SyntheticTrace:
    """Events of one run as its subject would stamp them; `now_ns` is the run's clock."""

    run_id: str
    rng: random.Random
    now_ns: int = 0
    events: list[EventRecord] = field(default_factory=list)
    connections: int = 0

    def emit(self, kind: str, **fields: object) -> None:
        common = {"run_id": self.run_id, "attempt": 1, "at_ns": self.now_ns, "source": "subject", "kind": kind}
        self.events.append(EventRecord.model_validate({**common, "source_seq": len(self.events), **fields}))

    def wait(self, setting: str, purpose: str, **where: object) -> None:
        """A wait that its limit ends, a little late as every timer."""
        limit_s = SECONDS[setting]
        self.emit("wait_started", waiting_on=setting, limit_s=limit_s, purpose=purpose, **where)
        self.now_ns += round((limit_s + self.rng.uniform(0.0002, 0.0012)) * 1e9)
        self.emit("wait_ended", waiting_on=setting, purpose=purpose, outcome="elapsed", **where)

    def connect(self, broker: int) -> int:
        self.connections += 1
        where = {"connection": self.connections, "broker": broker, "address": f"127.0.2.{abs(broker)}:9092"}
        self.emit("dial_started", **where)
        self.now_ns += self.rng.randint(200_000, 900_000)
        self.emit("dial_ended", outcome="connected", **where)
        return self.connections

    def fail_dial(self, broker: int) -> None:
        self.connections += 1
        where = {"connection": self.connections, "broker": broker, "address": f"127.0.2.{abs(broker)}:9092"}
        self.emit("dial_started", **where)
        self.wait(DIAL, "dial", **where)
        self.emit("dial_ended", outcome="timeout", error="i/o timeout", **where)


@dataclass(frozen=True, kw_only=True)
class SyntheticBlackhole:
    """One case: `retries` is Producer.Retry.Max; all `brokers` are blackholed once the producer has connected."""

    brokers: int = 1
    bootstrap: int = 1
    retries: int = 1
    seed: int = 7

    @property
    def terms(self) -> tuple[Term, ...]:
        if self.retries == 0:
            return (term(READ, 1),)
        dials = self.bootstrap - 1 + self.brokers + METADATA_RETRIES * self.bootstrap
        return (term(READ, 2), term(DIAL, dials), term(PRODUCER_BACKOFF, 1), term(METADATA_BACKOFF, METADATA_RETRIES))

    @property
    def predicted_s(self) -> float:
        return sum(one.total for one in self.terms)

    def run(self, repeat: int) -> tuple[RunRecord, list[EventRecord]]:
        """Repeat number `repeat` (from 1) of the cell."""
        name = f"{self.brokers}{self.bootstrap}{self.retries}{repeat}"
        trace = SyntheticTrace(run_id=f"{int(name):012x}", rng=random.Random(f"{self.seed} {name}"))
        connect = self.connect(trace)
        fault = self.fault(trace)
        started_ns = trace.now_ns
        trace.emit("operation_started", operation="probe")
        self.fail(trace, seed_connection=1, leader=2)
        trace.emit("operation_ended", operation="probe", outcome="failed")
        return self.record(trace, connect, fault, started_ns, repeat), trace.events

    def connect(self, trace: SyntheticTrace) -> OperationRecord:
        """The bootstrap connection is number 1, the leader's number 2."""
        started_ns = trace.now_ns
        trace.connect(-1)
        trace.connect(1)
        ended_ns = trace.now_ns
        trace.now_ns += 40_000_000
        return OperationRecord(
            alias="connect",
            operation="connect",
            started_ns=started_ns,
            ended_ns=ended_ns,
            outcome="ok",
            stamped="subject",
        )

    def fail(self, trace: SyntheticTrace, *, seed_connection: int, leader: int) -> None:
        trace.emit("attempt_started", operation="probe", try_number=1, broker=1)
        trace.emit("request_sent", connection=leader, broker=1, api="Produce", correlation_id=4, bytes=131)
        trace.wait(READ, "produce response", connection=leader, broker=1)
        trace.emit("attempt_ended", operation="probe", try_number=1, outcome="failed", error="i/o timeout")
        if self.retries == 0:
            return
        trace.wait(PRODUCER_BACKOFF, "retry back-off")
        trace.emit("refresh_started", try_number=1)
        trace.wait(READ, "metadata response", connection=seed_connection, broker=-1)
        for broker in [*range(-2, -self.bootstrap - 1, -1), *range(1, self.brokers + 1)]:
            trace.fail_dial(broker)
        for _ in range(METADATA_RETRIES):
            trace.wait(METADATA_BACKOFF, "metadata back-off")
            for seed in range(1, self.bootstrap + 1):
                trace.fail_dial(-seed)
        trace.emit("refresh_ended", try_number=1, outcome="failed", error="run out of brokers")

    def fault(self, trace: SyntheticTrace) -> FaultRecord:
        began_ns = trace.now_ns
        trace.now_ns += 4_000_000
        return FaultRecord(
            alias="outage",
            fault="blackhole",
            parameters=(NamedValue(name="brokers", text="all"),),
            began_ns=began_ns,
            confirmed_ns=trace.now_ns,
            healed_ns=None,
            proof="packets_dropped",
            count=14,
            proven=True,
            finding="14 packets were dropped",
        )

    def record(
        self, trace: SyntheticTrace, connect: OperationRecord, fault: FaultRecord, started_ns: int, repeat: int
    ) -> RunRecord:
        ended_ns = trace.now_ns
        measured_s = (ended_ns - started_ns) / 1e9
        error = "client has run out of available brokers to talk to" if self.retries else "i/o timeout"
        return RunRecord(
            run_id=trace.run_id,
            attempt=1,
            scenario="sarama-blackhole-established",
            path="scenarios/sarama/blackhole-established.scenario.yaml",
            about="Every broker's port stops answering while a Sarama SyncProducer is connected.",
            tags=("sarama", "blackhole"),
            client="sarama",
            client_version="1.27.2",
            driver="bundled",
            environment="local",
            brokers=self.brokers,
            bootstrap=tuple(range(1, self.bootstrap + 1)),
            parameters=self.parameters(),
            settings=tuple(NamedValue(name=n, text=f"{s:g}s", seconds=s) for n, s in SECONDS.items()),
            seed=self.seed,
            repeat=repeat,
            started_at=f"2026-03-02T14:02:{repeat:02d}+00:00",
            duration_s=ended_ns / 1e9 + 0.2,
            ready_s=0.31,
            verdict="pass",
            measures=(
                MeasureRecord(name="probe.time_to_error", unit="s", value=measured_s),
                MeasureRecord(name="probe.dials", unit="count", value=self.dials),
            ),
            expectations=self.judged(measured_s),
            operations=(
                connect,
                OperationRecord(
                    alias="probe",
                    operation="send",
                    started_ns=started_ns,
                    ended_ns=ended_ns,
                    outcome="failed",
                    error=error,
                    error_class="ErrOutOfBrokers",
                    stamped="subject",
                ),
            ),
            faults=(fault.model_copy(update={"healed_ns": ended_ns + 6_000_000}),),
            noise=NoiseRecord(loop_lag_p99_s=0.0009, loop_lag_max_s=0.004, samples=900),
            kernel=KernelRecord(
                release="6.1.0", hz=250, sysctls=(NamedValue(name="net.ipv4.tcp_syn_retries", text="6", number=6),)
            ),
        )

    @property
    def dials(self) -> float:
        return sum(one.count or 0 for one in self.terms if one.setting == DIAL)

    def parameters(self) -> tuple[NamedValue, ...]:
        addresses = "[" + ", ".join(str(one + 1) for one in range(self.bootstrap)) + "]"
        return (
            NamedValue(name="settings.Producer.Retry.Max", text=str(self.retries), number=self.retries),
            NamedValue(name="cluster.brokers", text=str(self.brokers), number=self.brokers),
            NamedValue(name="client.bootstrap", text=addresses),
        )

    def judged(self, measured_s: float) -> tuple[ExpectationResult, ...]:
        within_s = 0.01 * self.predicted_s + 0.05
        held = abs(measured_s - self.predicted_s) <= within_s
        claimed_s = 3.0 + 4 * SECONDS[DIAL]
        source = "Shopify/sarama v1.27.2 client.go, async_producer.go"
        return (
            ExpectationResult(
                measure="probe.time_to_error",
                kind="equals",
                formula=FORMULA if self.retries else READ,
                unit="s",
                terms=self.terms,
                predicted=self.predicted_s,
                low=self.predicted_s - within_s,
                high=self.predicted_s + within_s,
                measured=measured_s,
                outcome="held" if held else "failed",
                fails_run=not held,
                source=source,
                name="established-blackhole",
                line=22,
            ),
            ExpectationResult(
                measure="probe.dials",
                kind="equals",
                formula="client.bootstrap.count - 1 + cluster.brokers + Metadata.Retry.Max*client.bootstrap.count",
                unit="count",
                predicted=self.dials,
                low=self.dials,
                high=self.dials,
                measured=self.dials,
                outcome="held",
                source=source,
                line=37,
            ),
            ExpectationResult(
                measure="probe.time_to_error",
                kind="claim",
                formula=CLAIM,
                when="Producer.Retry.Max == 1",
                unit="s",
                terms=(
                    Term(text="Net.WriteTimeout", setting="Net.WriteTimeout", count=1, each=3, total=3),
                    term(DIAL, 4),
                ),
                predicted=claimed_s,
                low=claimed_s - 0.12,
                high=claimed_s + 0.12,
                measured=measured_s,
                outcome="refuted" if self.retries else "skipped",
                declared_holds=False,
                source="an article of 2020-11-18 on Sarama's time-outs",
                line=41,
            ),
        )

    def group(self, runs: Sequence[RunRecord]) -> GroupRecord:
        """What the repeats of this cell have in common."""
        own = [run for run in runs if run.parameters == self.parameters() and run.brokers == self.brokers]
        times = [run.measures[0].value or 0.0 for run in own]
        return GroupRecord(
            scenario=own[0].scenario,
            path=own[0].path,
            client=own[0].client,
            client_version=own[0].client_version,
            driver=own[0].driver,
            environment=own[0].environment,
            parameters=own[0].parameters,
            statistic="mean",
            of="probe.time_to_error",
            kind="equals",
            formula=FORMULA if self.retries else READ,
            unit="s",
            terms=self.terms,
            predicted=self.predicted_s,
            low=self.predicted_s - 0.5,
            high=self.predicted_s + 0.5,
            runs=len(own),
            measured=len(times),
            estimate=sum(times) / len(times),
            interval_low=min(times),
            interval_high=max(times),
            level=5e-05,
            verdict="pass",
            outcome="held",
            line=52,
        )

    def agreement(self) -> AgreementRecord:
        """This cell as two sides of it might have shown it."""
        times = tuple(self.predicted_s + late_s for late_s in (0.003, 0.006, 0.011))
        sides = tuple(
            SideResult(side=side, runs=3, measured=3, median=times[1], values=times) for side in ("profile", "real")
        )
        compared = SideComparison(
            side="profile", reference="real", outcome="agrees", bound=0.09, level=0.001, difference=0.0
        )
        return AgreementRecord(
            scenario="sarama-blackhole-established",
            path="scenarios/sarama/blackhole-established.scenario.yaml",
            client="sarama",
            client_version="1.27.2",
            brokers=self.brokers,
            fault="blackhole",
            parameters=self.parameters(),
            measure="probe.time_to_error",
            unit="s",
            formula=FORMULA if self.retries else READ,
            terms=self.terms,
            predicted=self.predicted_s,
            sides=sides,
            compared=(compared,),
            outcome="agrees",
        )


def term(setting: str, count: int) -> Term:
    text = setting if count == 1 else f"{count}*{setting}"
    return Term(text=text, setting=setting, count=count, each=SECONDS[setting], total=count * SECONDS[setting])


def write_suite(folder: Path, cells: Sequence[SyntheticBlackhole], *, repeats: int) -> list[RunRecord]:
    """Write the cells' runs and events, and a manifest, as a suite's folder. Returns the runs."""
    results = [cell.run(repeat) for cell in cells for repeat in range(1, repeats + 1)]
    runs = [run for run, _ in results]
    write_lines(folder / "runs.jsonl", runs)
    write_lines(folder / "events.jsonl", [event for _, events in results for event in events])
    write_lines(folder / "groups.jsonl", [cell.group([run for run, _ in results]) for cell in cells])
    manifest = Manifest(
        suite=folder.name,
        faultlab="0.1.0",
        environment="local",
        seed=7,
        arguments=("scenarios/",),
        folder=".",
        started_at="2026-03-02T14:02:00+00:00",
        run_ids=tuple(run.run_id for run in runs),
        machine="2 cores, 16 GiB",
    )
    (folder / "manifest.json").write_text(manifest.model_dump_json(indent=2), encoding="utf-8")
    return runs


def write_lines(file: Path, records: Sequence[Record]) -> None:
    file.write_bytes(b"".join(map(line_of, records)))


def line_of(record: Record) -> bytes:
    return record.model_dump_json().encode() + b"\n" if isinstance(record, EventRecord) else encode_line(record)
