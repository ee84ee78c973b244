"""What the broker answers: one file an API, found by `harness.brokers.embedded.handlers`.

Each opens with the versions that it speaks and the behaviours that it has.
"""
