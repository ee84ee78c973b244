"""What a client knows of the cluster: brokers, topics, leaders. Values only: when to ask is a profile's policy."""

from client.metadata.snapshot import Node, Partition, Snapshot, Topic, snapshot_from_response

__all__ = ["Node", "Partition", "Snapshot", "Topic", "snapshot_from_response"]
