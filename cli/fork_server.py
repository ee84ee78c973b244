"""Commands for one other program, each in a process forked from this one, which has imported everything before.

A start of Python with all imports takes half a second, a fork some milliseconds, which matters to a program that runs
many commands, such as a test session. The other program holds one end of a socket, and sends with each message four
open files: the request (JSON: `arguments`, `folder`, `environment`), stdout, stderr, and one to which the command's
process id is written when it begins and its exit code when it ends, a line each, and between them what it obtains, in
lines that begin with `obtaining `. When the socket closes, all commands end.
"""

import gc
import json
import os
import signal
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise

import cli.commands.list
import cli.commands.run  # noqa: F401  (what most commands need)
import harness.environments.sim.environment  # noqa: F401
from cli.errors import print_internal_error
from cli.exit_codes import ExitCode
from cli.main import main
from cli.suite.obtaining import tell_too
from harness.environments.local.preload import preload
from harness.environments.local.syscalls import die_with_parent

FILES = 4


def serve(control: socket.socket) -> int:
    """Answer until the other end closes. This process has to have one thread."""
    gc.freeze()
    has_run = is_preloaded = False
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # commands report their ends themselves
    server = os.getpid()
    while True:
        message, files, _, _ = socket.recv_fds(control, 1, FILES)
        if not message or len(files) != FILES:
            return ExitCode.PASSED
        words = _arguments(files[0])
        if words[:1] == ["run"] and not is_preloaded:
            # Half a second: cells cannot do without, one simulated run needs little of it, many need that each.
            is_preloaded = has_run or ("--env", "sim") not in pairwise(words)
            has_run = True
            if is_preloaded:
                preload()
                gc.freeze()
        if os.fork() == 0:
            control.close()
            _run_command(files, server)
        for file in files:
            os.close(file)


def _arguments(request: int) -> list[str]:
    """The words of a command that the process forked for it reads for itself; none where they cannot be read."""
    try:
        return list(map(str, json.loads(os.pread(request, os.fstat(request).st_size, 0))["arguments"]))
    except (OSError, ValueError, KeyError, TypeError):
        return []


def _run_command(files: Sequence[int], server: int) -> None:
    """One command, in its own process and process group; does not return."""
    code: int = ExitCode.LAB_ERROR
    status = files[3]
    try:
        die_with_parent(server)
        os.setpgid(0, 0)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.write(status, f"{os.getpid()}\n".encode())
        with os.fdopen(files[0], "rb") as request:
            asked = json.load(request)
        for number, file in enumerate((os.open(os.devnull, os.O_RDONLY), files[1], files[2])):
            os.dup2(file, number)
            os.close(file)
        # The streams of the process that this is a copy of know other files than those below them now.
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", encoding="utf-8", errors="replace", buffering=1, closefd=False)  # noqa: SIM115
        os.environ.clear()
        os.environ.update(asked["environment"])
        os.chdir(asked["folder"])
        sys.argv = ["faultlab", *asked["arguments"]]
        tell_too(lambda line: _write_obtaining(status, line))
        code = main(asked["arguments"])
    except BaseException as error:  # noqa: BLE001  (a forked process must not go on as its parent)
        print_internal_error(error)
    finally:
        with suppress(OSError):
            os.write(status, f"{int(code)}\n".encode())
        os._exit(code)


def _write_obtaining(status: int, line: str) -> None:
    with suppress(OSError):
        os.write(status, f"obtaining {' '.join(line.split())}\n".encode())
