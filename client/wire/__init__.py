"""Bytes of the Kafka protocol: frames, messages, record batches, error codes. No I/O, no clock, no state.

- `frames`: cut a stream into payloads (`FrameReader`), put a size before one (`frame`);
- `messages`: `encode_request`, `decode_request`, `encode_response`, `decode_response`; bodies in `apis/`;
- `records`: record batches of magic 2;
- `errors`: Kafka's error codes as a table;
- `malformed`: `WireError`, the one thing that bad bytes raise.
"""
