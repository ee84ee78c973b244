"""A subject that does nothing but sleep: each `send` takes 100 ms by its own clock, and it says how long it took.

It leaves `clock_ns` and `at_ns` out, so that the lab has to time it by the arrival of its lines: what the lab then
measures beside what the sleeper says of itself is the lab's own error.
"""

import json
import sys
import time

SLEEP_S = 0.1


def say(**event: object) -> None:
    sys.stdout.write(json.dumps(event) + "\n")
    sys.stdout.flush()


def sleep(call: str) -> None:
    """The time that counts lies between the two lines: the last thing before the one, the first before the other."""
    say(ev="started", id=call)
    began_ns = time.monotonic_ns()
    time.sleep(SLEEP_S)
    took_ns = time.monotonic_ns() - began_ns
    say(ev="ok", id=call)
    say(ev="trace", kind="state", operation=call, purpose="slept", outcome="done", text=str(took_ns))


def main() -> None:
    say(ev="ready")
    for line in sys.stdin:
        command = json.loads(line)
        if command["op"] == "send":
            sleep(command["id"])
            continue
        say(ev="started", id=command["id"])
        say(ev="ok", id=command["id"])
        if command["op"] == "close":
            return


if __name__ == "__main__":
    main()
