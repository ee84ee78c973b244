"""The local environment: a cell of Linux namespaces per run, with real sockets and a real Toxiproxy in it."""
