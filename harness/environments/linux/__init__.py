"""What every environment on a real Linux kernel shares: packet rules, sockets, Toxiproxy, captured dials."""
