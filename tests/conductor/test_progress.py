"""Protects the live line: what a run is waiting for now, said once, in words."""

from harness.conductor.progress import ProgressReporter


def told(*events: tuple[str, dict[str, object]]) -> list[str]:
    texts: list[str] = []
    telling = ProgressReporter(texts.append)
    for kind, fields in events:
        telling.on_trace_event(kind, fields)  # type: ignore[arg-type]
    return texts


def test_a_dial_names_its_broker_and_hides_its_own_limit() -> None:
    assert told(
        ("dial_started", {"connection": 3, "broker": 2, "address": "127.0.2.2:9092"}),
        ("wait_started", {"connection": 3, "waiting_on": "Net.DialTimeout"}),
        ("wait_ended", {"connection": 3, "waiting_on": "Net.DialTimeout", "outcome": "elapsed"}),
        ("dial_ended", {"connection": 3, "broker": 2, "outcome": "timeout"}),
        ("wait_started", {"waiting_on": "Metadata.Retry.Backoff"}),
        ("dial_started", {"connection": 4, "broker": -1, "address": "127.0.2.1:9092"}),
        ("dial_ended", {"connection": 4}),
        ("wait_started", {"connection": 4, "waiting_on": "Net.ReadTimeout"}),
        ("request_sent", {"connection": 4, "api": "Produce"}),
    ) == ["dialling broker 2", "backing off", "dialling 127.0.2.1:9092", "waiting: Net.ReadTimeout"]


def test_nothing_is_said_twice() -> None:
    assert told(*[("wait_started", {"waiting_on": "Net.ReadTimeout"})] * 3) == ["waiting: Net.ReadTimeout"]
