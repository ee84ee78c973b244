"""What runs first, before all imports that take time."""

import sys

from cli.early_interrupt import leave_at_once


def main() -> int:
    """`faultlab`: the exit code, for `sys.exit`."""
    leave_at_once()
    if sys.argv[1:2] == ["--engine"]:
        return serve(*map(int, sys.argv[2:]))
    from cli.main import main as run

    return run()


def serve(parent: int, control: int) -> int:
    """`faultlab --engine`, for the pytest plugin: commands for the process `parent`, which has the other end of the
    socket `control`. The kernel ends this process with that one, even killed."""
    import socket

    from harness.environments.local.syscalls import die_with_parent

    die_with_parent(parent)
    from cli.fork_server import serve

    return serve(socket.socket(fileno=control))
