"""Sockets for every profile: dialling, reading and writing with deadlines, names, version negotiation. No policy."""
