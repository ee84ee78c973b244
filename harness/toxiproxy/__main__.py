"""`python -m harness.toxiproxy`: find or build the server, and print where it is. The set-up calls it."""

import sys

from harness.toxiproxy.obtain import ToxiproxyMissing, obtain


def main() -> int:
    """0 with the path on standard output; 3 with what is missing, or 130, on standard error."""
    try:
        path = obtain(lambda line: print(line, file=sys.stderr, flush=True))  # noqa: T201 - a command's own output
    except ToxiproxyMissing as missing:
        print(f"toxiproxy: {missing}", file=sys.stderr)  # noqa: T201
        return 3
    except KeyboardInterrupt:
        print("toxiproxy: interrupted; nothing is left, call it again", file=sys.stderr)  # noqa: T201
        return 130
    print(path)  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
