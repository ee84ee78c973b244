"""`faultlab gate` and `compare`: the two sides, and what is printed and written of their comparison."""
