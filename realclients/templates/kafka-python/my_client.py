#!/usr/bin/env python3
"""Your Kafka producer under faultlab. Make connect, send and close do what your service does.

Needs kafka-python: `python3 -m pip install kafka-python`.
"""

import sys

from faultlab_subject import main

try:
    from kafka import KafkaProducer
except ImportError:
    sys.exit(f"kafka-python is not installed for {sys.executable}: {sys.executable} -m pip install kafka-python")


class Client:
    """One producer. `send` is called from several threads at once; it returns when your caller would have an answer."""

    def connect(self, bootstrap, settings):
        """Settings have kafka-python's own names; a duration (3s) is a float, in seconds."""
        given = {
            name: round(value * 1000) if name.endswith("_ms") and isinstance(value, float) else value
            for name, value in settings.items()
        }
        self.producer = KafkaProducer(bootstrap_servers=bootstrap, **given)

    def send(self, topic, value, key, partition):
        """Returns where the message stands in the log. If your service calls get(timeout=...), do so here, too."""
        record = self.producer.send(topic, value=value, key=key, partition=partition).get()
        return record.partition, record.offset

    def close(self):
        self.producer.close()


main(Client())
