"""A Toxiproxy server as a child process, and what the lab asks of it."""
