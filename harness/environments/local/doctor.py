"""What this machine offers the local environment, as data: `faultlab doctor` prints it."""

import os
from dataclasses import dataclass
from typing import Literal

from harness.environments.linux.packets import PacketRuleError, PacketTable
from harness.environments.linux.sysctls import PINNED, kernel
from harness.environments.local.cell import call_in_cell
from harness.environments.local.resources import lanes_for, memory_available_bytes
from harness.environments.world import EnvironmentUnavailable
from harness.story import Kernel
from harness.toxiproxy.obtain import ToxiproxyMissing, find

_LIMIT_S = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorFinding:
    """One thing that was looked at. `missing` keeps the local environment from running, `note` changes its figures."""

    name: str
    state: Literal["ok", "note", "missing"]
    text: str
    remedy: str | None = None


def findings() -> tuple[DoctorFinding, ...]:
    """Really try everything that a run needs: a cell, packet rules in it, Toxiproxy. Takes a few tenths of a second."""
    try:
        rules_refused, facts = call_in_cell(_in_cell, timeout_s=_LIMIT_S)
    except EnvironmentUnavailable as refused:
        return (
            DoctorFinding(name="namespaces", state="missing", text=refused.reason, remedy=refused.remedy),
            _toxiproxy(),
            _machine(),
        )
    except (TimeoutError, RuntimeError) as failed:
        return (
            DoctorFinding(name="namespaces", state="missing", text=f"a cell broke: {failed}"),
            _toxiproxy(),
            _machine(),
        )
    return (
        DoctorFinding(name="namespaces", state="ok", text=f"user, network, pid and mount, as user {os.geteuid()}"),
        _packets(rules_refused),
        _toxiproxy(),
        _kernel(facts),
        _machine(),
    )


async def _in_cell() -> tuple[str | None, Kernel]:
    table = PacketTable()
    try:
        await table.open()
    except PacketRuleError as refused:
        return str(refused), kernel()
    finally:
        table.close()
    return None, kernel()


def _packets(refused: str | None) -> DoctorFinding:
    if refused is None:
        return DoctorFinding(name="packet rules", state="ok", text="nf_tables by netlink, on the input hook of a cell")
    return DoctorFinding(
        name="packet rules",
        state="missing",
        text=refused,
        remedy="load nf_tables (`sudo modprobe nf_tables nft_reject`)",
    )


def _toxiproxy() -> DoctorFinding:
    try:
        return DoctorFinding(name="toxiproxy", state="ok", text=str(find()))
    except ToxiproxyMissing as missing:
        if missing.obtainable:
            text = "not built yet: the first run on real sockets builds it, which takes a minute or two"
            return DoctorFinding(name="toxiproxy", state="note", text=text, remedy=missing.remedy)
        return DoctorFinding(name="toxiproxy", state="missing", text=missing.reason, remedy=missing.remedy)


def _kernel(facts: Kernel) -> DoctorFinding:
    text = f"Linux {facts.release}, {facts.hz} Hz"
    unlike = [
        f"{name} is {value} and not {PINNED[path]}"
        for path in PINNED
        if (value := facts.sysctls.get(name := f"net.{path.replace('/', '.')}")) is not None
        and value != " ".join(PINNED[path].split())
    ]
    if "net.ipv4.tcp_syn_linear_timeouts" not in facts.sysctls:
        unlike.append("SYNs are sent again after 1, 3, 7 s, not 1, 2, 3, 4 s (kernels before 6.5)")
    if unlike:
        return DoctorFinding(name="kernel", state="note", text=f"{text}; {'; '.join(unlike)}")
    return DoctorFinding(name="kernel", state="ok", text=f"{text}, TCP settings pinned in every cell")


def _machine() -> DoctorFinding:
    cores = len(os.sched_getaffinity(0))
    lanes = lanes_for()
    text = f"{cores} cores, {memory_available_bytes() / (1 << 30):.1f} GiB of memory free: {lanes} cells at once"
    if cores < 2:
        return DoctorFinding(
            name="machine", state="note", text=text, remedy="with one core, runs disturb each other: expect noise"
        )
    return DoctorFinding(name="machine", state="ok", text=text)
