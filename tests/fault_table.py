"""Every fault with parameters that are good anywhere, for tests that inject them all."""

from typing import Any

from harness.faults import FAULTS, FaultModel

WRITTEN: tuple[tuple[str, dict[str, Any]], ...] = (
    ("accept_queue_full", {"brokers": [1]}),
    ("bad_frame", {"damage": "cut", "then": "reset"}),
    ("bandwidth", {"rate": "1KB/s"}),
    ("blackhole", {}),
    ("blackhole", {"at": "sender", "flows": "to_broker"}),
    ("correlation_mismatch", {}),
    ("drop", {"chance": "30%"}),
    ("drop", {"only": "syn"}),
    ("duplicate", {}),
    ("error_answer", {"code": "NOT_LEADER_OR_FOLLOWER"}),
    ("half_open", {}),
    ("kill", {"brokers": [1]}),
    ("latency", {"delay": "200ms", "jitter": "100ms"}),
    ("latency", {"delay": "200ms", "via": "packets"}),
    ("leader_move", {"partition": "orders/0"}),
    ("limit_data", {"bytes": "40B", "toxicity": 0.5}),
    ("loss", {"chance": "20%"}),
    ("no_leader", {"partition": "orders/0"}),
    ("old_broker", {"release": "kafka-2.3"}),
    ("pause", {"brokers": [1]}),
    ("refuse", {}),
    ("refuse", {"by": "firewall"}),
    ("reorder", {"chance": "25%"}),
    ("reset", {"times": 1}),
    ("reset", {"bytes": "10B", "upon": "answer"}),
    ("reset_peer", {"timeout": "100ms", "toxicity": 0.5}),
    ("restart", {"brokers": [2]}),
    ("scale_down", {"brokers": [2]}),
    ("silence", {}),
    ("slicer", {"average_size": "16B", "size_variation": "3B", "delay": "1ms"}),
    ("slow_answer", {"delay": "300ms"}),
    ("slow_broker", {"delay": "300ms"}),
    ("slow_close", {"delay": "400ms"}),
    ("slow_dial", {"delays": ["500ms", "0s"], "jitter": "0s"}),
    ("stale_metadata", {}),
    ("timeout", {"timeout": "200ms", "toxicity": 0.5}),
    ("unknown_topic", {"topic": "orders"}),
)


def fault(number: int) -> FaultModel:
    name, parameters = WRITTEN[number]
    return FAULTS[name].model_validate(parameters)
