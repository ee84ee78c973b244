"""The kinds of clusters: one file a kind, found by `harness.brokers.kind`."""
