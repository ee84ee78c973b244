"""What two suites have in common and by how much it differs: cases, samples, shifts and frequencies; no verdict."""
