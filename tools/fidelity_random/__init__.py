"""Compares a profile with the real client in scenarios drawn by chance: shapes, settings, faults and moments.

`clients/` has a file for each client's way of drawing. What is drawn depends on the seed alone: neither the profile nor
the simulation is asked. A draw that tests nothing is rejected by what the real client does, and is printed (screening).
"""
