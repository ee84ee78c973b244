"""Holds one suite against another: what got slower, worse or lost since, and what nobody can tell."""
