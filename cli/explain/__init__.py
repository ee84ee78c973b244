"""`faultlab explain`: from words on the command line to a question, and what answers it."""
