"""`python -m reports.jvm`: prepare Java for Spark. The last line of its output is a file that the preparation left."""

import sys

from reports.errors import ReportError
from reports.jvm.prepare import prepare

LAB_FAILED = 3
INTERRUPTED = 130


def main() -> int:
    try:
        product = prepare(lambda line: print(line, flush=True))  # noqa: T201 - a command's output
    except ReportError as error:
        print(error, file=sys.stderr)  # noqa: T201
        return LAB_FAILED
    except OSError as error:
        print(f"cannot prepare Java for Spark: {error}\nmake room there, or set XDG_CACHE_HOME", file=sys.stderr)  # noqa: T201
        return LAB_FAILED
    except KeyboardInterrupt:
        print("interrupted; run the same command again to go on", file=sys.stderr)  # noqa: T201
        return INTERRUPTED
    print(product)  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
