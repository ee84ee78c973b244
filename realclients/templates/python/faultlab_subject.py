"""Speaks faultlab's subject protocol (docs/SUBJECT_PROTOCOL.md of faultlab) for a producer. Nothing here changes.

The lab asks for operations on stdin, and is answered on stdout; stderr is kept with the run.
"""

import json
import logging
import os
import sys
import threading
import time

speaking = threading.Lock()


def say(ev, **fields):
    with speaking:
        sys.stdout.write(json.dumps({"ev": ev, **fields}) + "\n")
        sys.stdout.flush()


def operate(client, launch, command):
    """Carry out one command. What it returns goes into the answer."""
    if command["op"] == "connect":
        client.connect(launch["bootstrap"], launch["settings"])
    elif command["op"] == "send":
        key = command.get("key")
        partition, offset = client.send(
            command["topic"], command["value"].encode(), None if key is None else key.encode(), command.get("partition")
        )
        return {"partition": partition, "offset": offset}
    elif command["op"] == "close":
        client.close()
    else:
        raise ValueError(f"there is no operation {command['op']}")
    return {}


def carry_out(client, launch, command):
    """The times are CLOCK_MONOTONIC, taken just before the call and just after it."""
    say("started", id=command["id"], at_ns=time.monotonic_ns())
    try:
        found = operate(client, launch, command)
        at_ns = time.monotonic_ns()
        say("ok", id=command["id"], at_ns=at_ns, **found)
    except Exception as error:  # noqa: BLE001 - whatever the client raises is what is measured
        at_ns = time.monotonic_ns()
        say("error", id=command["id"], at_ns=at_ns, error=str(error) or repr(error), **{"class": type(error).__name__})
    if command["op"] == "close":
        os._exit(0)


def main(client):
    launch = json.loads(os.environ["FAULTLAB_SUBJECT"])
    logging.basicConfig(level=logging.INFO)  # to stderr
    say("ready", clock_ns=time.monotonic_ns())
    for line in sys.stdin:
        threading.Thread(target=carry_out, args=(client, launch, json.loads(line)), daemon=True).start()
    os._exit(0)
