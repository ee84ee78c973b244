"""The commands, one file each. A file's `command` is found by its name: a new command is one new file."""
