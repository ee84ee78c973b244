"""The bodies of requests and responses: one file an API, found by `client.wire.api.apis`.

A body is the same dataclass for every version. Names are those of Apache Kafka's schemas in snake case; a field that a
version lacks keeps its default when read and is left out when written. Sequences are tuples: bodies are values.
"""
