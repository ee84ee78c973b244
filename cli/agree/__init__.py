"""`faultlab agree`: the suites that its sides need, and what their comparison shows."""
