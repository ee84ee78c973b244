"""TLS and SASL as bytes and messages, for both ends of a connection: no socket, no loop, no client's policy.

- `tls`: a TLS session over memory, and the contexts of clients;
- `scram`: the SCRAM exchange of both sides;
- `plain`: the one message of PLAIN;
- `credentials`: who a client says that it is.

`client.net.tls_stream` puts a session on a stream of the client's; the embedded broker puts one on its own.
"""
