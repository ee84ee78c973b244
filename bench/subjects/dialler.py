"""A subject that dials: each `send` opens 20 connections at once, and says how long each took, by its own clock."""

import json
import os
import select
import socket
import sys
import time

AT_ONCE = 20


def say(**event: object) -> None:
    sys.stdout.write(json.dumps(event) + "\n")
    sys.stdout.flush()


def dials_ns(address: tuple[str, int]) -> list[int]:
    """Nanoseconds from each dial to the moment at which the kernel has it connected."""
    began_ns: dict[int, int] = {}
    open_sockets = {}
    poll = select.epoll()
    for _ in range(AT_ONCE):
        dialling = socket.socket(socket.AF_INET, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        open_sockets[dialling.fileno()] = dialling
        poll.register(dialling, select.EPOLLOUT | select.EPOLLONESHOT)
        began_ns[dialling.fileno()] = time.monotonic_ns()
        dialling.connect_ex(address)
    taken_ns: list[int] = []
    while len(taken_ns) < AT_ONCE:
        for number, _ in poll.poll():
            taken_ns.append(time.monotonic_ns() - began_ns[number])
            error = open_sockets[number].getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            assert not error, os.strerror(error)
    for dialled in open_sockets.values():
        dialled.close()
    poll.close()
    return taken_ns


def main() -> None:
    host, port = json.loads(os.environ["FAULTLAB_SUBJECT"])["bootstrap"][0].split(":")
    say(ev="ready")
    for line in sys.stdin:
        command = json.loads(line)
        say(ev="started", id=command["id"])
        if command["op"] == "send":
            taken = dials_ns((host, int(port)))
            say(ev="trace", kind="state", operation=command["id"], purpose="dialled", outcome="done", text=str(taken))
        say(ev="ok", id=command["id"])
        if command["op"] == "close":
            return


if __name__ == "__main__":
    main()
