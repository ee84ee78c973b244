"""Mechanism for every profile: connecting to an address, reading, writing, timers, readiness, version negotiation.

Two kinds of clients stand on it. One whose tasks block uses `Stream.read_full` and `Stream.drain` with deadlines, and
`Connection` above them. One that polls many connections from a single loop sets `Stream.on_ready`, sleeps until that
or its next timer (`loop.call_at`), and then uses the calls that never wait. Which addresses of a name are tried in
which order, when a connection is given up, and what an error does to a request is policy: a profile's, or that of its
language's library (client/golang).
"""
