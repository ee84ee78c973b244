"""The command line: the only room that sees both the harness and the reports. One file a command, in `cli.commands`."""
