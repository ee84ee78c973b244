"""What formulas are made of: quantities with units, expressions over settings, conditions on a run, named formulas."""
