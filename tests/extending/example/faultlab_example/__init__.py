"""A package from outside the project that adds one thing of every kind (docs/EXTENDING.md)."""
