"""Commands that run suites: from a request to records, and to what is printed when the suite has ended."""
