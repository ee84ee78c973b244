"""The cluster of a cell: a controller in the conductor, and one forked process for each embedded broker."""

import os
import socket
from pathlib import Path

from harness.brokers.embedded.controller import Controller
from harness.brokers.embedded.link import BrokerFailed, BrokerLink
from harness.brokers.embedded.process import run_broker
from harness.environments.local import addresses
from harness.environments.local.children import Child, Files, fork
from harness.environments.local.logs import Logs
from harness.plan import ClusterShape


class Brokers:
    """Started together; `ready` returns when all of them listen."""

    def __init__(
        self, controller: Controller, processes: dict[int, Child], channels: dict[int, socket.socket], logs: Logs
    ) -> None:
        self._logs = logs
        self.controller = controller
        self.processes = processes
        self._channels = channels
        self._links: dict[int, BrokerLink] = {}

    @classmethod
    def start(cls, cluster: ClusterShape, logs: Logs) -> "Brokers":
        """Fork them. Raises StateError for a cluster that cannot be."""
        controller = Controller(cluster, addresses.advertised)
        folder = partitions(logs)
        processes, channels = {}, {}
        for broker in cluster.broker_ids:
            ours, theirs = socket.socketpair()
            processes[broker] = _forked(broker, theirs.fileno(), folder, logs)
            theirs.close()
            channels[broker] = ours
        return cls(controller, processes, channels, logs)

    async def ready(self) -> None:
        """Raises BrokerFailed."""
        for broker, channel in self._channels.items():
            link = await BrokerLink.over(broker, channel)
            self.controller.attach(link.push)
            self._links[broker] = link
        for broker, link in self._links.items():
            try:
                await link.ready()
            except BrokerFailed as exc:
                raise BrokerFailed(f"{exc}; {self._logs.last_words(log_name(broker))}") from exc


def partitions(logs: Logs) -> Path:
    """The folder in which all brokers of the cell keep the partitions' logs."""
    return logs.temporary("partitions")


def log_name(broker: int) -> str:
    return f"broker-{broker}.log"


def _forked(broker: int, channel: int, folder: Path, logs: Logs) -> Child:
    def work() -> int:
        return run_broker(broker, listen=addresses.broker(broker), channel_fd=channel, logs=folder)

    nowhere = os.open(os.devnull, os.O_RDWR)
    log = logs.append_to(log_name(broker))
    try:
        return fork(f"broker {broker}", work, Files(stdin=nowhere, stdout=nowhere, stderr=log, kept=(channel,)))
    finally:
        os.close(nowhere)
        os.close(log)
