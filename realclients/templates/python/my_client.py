#!/usr/bin/env python3
"""Your Kafka producer under faultlab: the lab asks for operations on stdin, this program answers on stdout.

`Client` is all that you change: make connect, send and close do what your service does. The rest speaks the subject
protocol (docs/SUBJECT_PROTOCOL.md of faultlab). Needs kafka-python: `python3 -m pip install kafka-python`.
"""

import json
import logging
import os
import sys
import threading
import time

try:
    from kafka import KafkaProducer
except ImportError:
    sys.exit(f"kafka-python is not installed for {sys.executable}: {sys.executable} -m pip install kafka-python")


class Client:
    """One producer. `send` is called from several threads at once; it returns when your caller would have an answer."""

    def connect(self, bootstrap, settings):
        """Settings have kafka-python's own names; the scenario's durations come in seconds."""
        given = {name: round(value * 1000) if name.endswith("_ms") else value for name, value in settings.items()}
        self.producer = KafkaProducer(bootstrap_servers=bootstrap, **given)

    def send(self, topic, value, key, partition):
        """Returns where the message stands in the log."""
        record = self.producer.send(topic, value=value, key=key, partition=partition).get(timeout=10)
        return record.partition, record.offset

    def close(self):
        self.producer.close()


launch = json.loads(os.environ["FAULTLAB_SUBJECT"])
client = Client()
speaking = threading.Lock()


def say(ev, **fields):
    with speaking:
        sys.stdout.write(json.dumps({"ev": ev, **fields}) + "\n")
        sys.stdout.flush()


def operate(command):
    """Carry out one command. What it returns goes into the answer."""
    if command["op"] == "connect":
        client.connect(launch["bootstrap"], launch["settings"])
    elif command["op"] == "send":
        key = command.get("key")
        partition, offset = client.send(
            command["topic"], command["value"].encode(), None if key is None else key.encode(), command.get("partition")
        )
        return {"partition": partition, "offset": offset}
    elif command["op"] == "close":
        client.close()
    else:
        raise ValueError(f"there is no operation {command['op']}")
    return {}


def carry_out(command):
    """The times are CLOCK_MONOTONIC, taken just before the call and just after it."""
    say("started", id=command["id"], at_ns=time.monotonic_ns())
    try:
        found = operate(command)
        at_ns = time.monotonic_ns()
        say("ok", id=command["id"], at_ns=at_ns, **found)
    except Exception as error:  # noqa: BLE001 - whatever the client raises is what is measured
        at_ns = time.monotonic_ns()
        say("error", id=command["id"], at_ns=at_ns, error=str(error) or repr(error), **{"class": type(error).__name__})
    if command["op"] == "close":
        os._exit(0)


def main():
    logging.basicConfig(level=logging.INFO)  # to stderr, which is kept with the run
    say("ready", clock_ns=time.monotonic_ns())
    for line in sys.stdin:
        threading.Thread(target=carry_out, args=(json.loads(line),), daemon=True).start()
    os._exit(0)


main()
