#!/usr/bin/env python3
"""Your Kafka producer under faultlab. Make connect, send and close do what your service does.

Needs confluent-kafka, which is librdkafka for Python: `python3 -m pip install confluent-kafka`.
"""

import queue
import sys
import threading

from faultlab_subject import main

try:
    from confluent_kafka import KafkaException, Producer
except ImportError:
    sys.exit(f"confluent-kafka is not installed for {sys.executable}: {sys.executable} -m pip install confluent-kafka")


class Client:
    """One producer. `send` is called from several threads at once; it returns when your caller would have an answer."""

    def connect(self, bootstrap, settings):
        """Settings have librdkafka's own names; a duration (3s) is a float, in seconds. It connects behind this."""
        given = {
            name: round(value * 1000) if name.endswith(".ms") and isinstance(value, float) else value
            for name, value in settings.items()
        }
        self.producer = Producer({"bootstrap.servers": ",".join(bootstrap), **given})
        threading.Thread(target=self.poll, daemon=True).start()

    def poll(self):
        """Deliveries are reported from here: at once, whatever the time-out of a call that waits for one."""
        while True:
            self.producer.poll(1)

    def send(self, topic, value, key, partition):
        """Returns where the message stands in the log, as soon as librdkafka reports it or gives up."""
        reported = queue.SimpleQueue()
        where = {} if partition is None else {"partition": partition}
        self.producer.produce(topic, value, key, on_delivery=lambda *report: reported.put(report), **where)
        error, message = reported.get()
        if error is not None:
            raise KafkaException(error)
        return message.partition(), message.offset()

    def close(self):
        self.producer.flush()


main(Client())
