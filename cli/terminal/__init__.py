"""Where text goes: consoles, logs of CI systems, and problems of scenarios on them."""
