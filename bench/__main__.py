"""Runs benchmarks by name, each in this process, and names those that missed their target."""

import argparse
import os
import platform
import sys
from collections.abc import Sequence
from importlib import import_module

from bench import names
from harness.suite.machine import machine


def main(arguments: Sequence[str] | None = None) -> int:
    """0 where every target is reached, 1 where one is missed or a benchmark could not be made."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of {', '.join(names())}; without one: all")
    given = parser.parse_args(arguments)
    unknown = [name for name in given.names if name not in names()]
    if unknown:
        parser.error(f"there is no benchmark {unknown[0]} (there are: {', '.join(names())})")
    load = ", ".join(f"{average:.2f}" for average in os.getloadavg())
    print(f"{machine()}, {platform.python_implementation()} {platform.python_version()}, load {load}")
    missed = [name for name in given.names or names() if not reached(name)]
    if missed:
        print(f"\nmissed a target, or could not be made: {', '.join(missed)}")
    return 1 if missed else 0


def reached(name: str) -> bool:
    """Run one with its defaults. Whether it reached its targets, if it has any."""
    print(f"\n{name}", flush=True)
    try:
        code = import_module(f"bench.{name}").main([])
    except SystemExit as stopped:
        if isinstance(stopped.code, str):
            print(stopped.code, file=sys.stderr)
        code = stopped.code
    sys.stdout.flush()
    return code in (None, 0)


if __name__ == "__main__":
    raise SystemExit(main())
