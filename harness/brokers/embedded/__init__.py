"""A Kafka broker of our own: small enough to run by the dozen, in simulated and in real worlds.

`broker.EmbeddedBroker` serves connections and knows no fault; `controller.Controller` owns the cluster's state;
`process.run_broker` and `link.BrokerLink` are the two ends where a broker is a process. One file an API in `apis/`.
"""

import logging

# Brokers log what they refuse. Unless a handler is set up, that must not reach a terminal.
logging.getLogger(__name__).addHandler(logging.NullHandler())
