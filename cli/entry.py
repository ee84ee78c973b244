"""What runs first, before all imports that take time."""

from cli.early_interrupt import leave_at_once


def main() -> int:
    """`faultlab`: the exit code, for `sys.exit`."""
    leave_at_once()
    from cli.main import main as run

    return run()
