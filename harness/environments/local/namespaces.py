"""Entering new Linux namespaces, and saying precisely why a machine refuses them.

A cell is made in two steps: `enter` in a process with one thread (its next child becomes pid 1 of the cell), then
`configure` in that child. Sources: unshare(2), user_namespaces(7), pid_namespaces(7), netdevice(7).
"""

import errno
import fcntl
import os
import socket
import stat
import struct
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from harness.environments.local import syscalls
from harness.environments.world import EnvironmentUnavailable

_ALL = syscalls.CLONE_NEWUSER | syscalls.CLONE_NEWNET | syscalls.CLONE_NEWPID | syscalls.CLONE_NEWNS
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 0x1

TEMPORARY = Path("/dev/shm")  # noqa: S108 - a tmpfs of the cell's own is mounted over it
"""Where a cell has its temporary files. Not /tmp: programs under test may live there."""
CELL_FILES = TEMPORARY / ".faultlab"
"""The folder of the cell's own files in it."""

_LIMITS = ("max_user_namespaces", "max_net_namespaces", "max_pid_namespaces", "max_mnt_namespaces")


def enter() -> None:
    """Put the calling process into new user, network, pid and mount namespaces, as the user 0 of its own.

    Raises OSError; `explain` turns it into a reason and a remedy.
    """
    user, group = os.geteuid(), os.getegid()
    syscalls.unshare(_ALL)
    syscalls.set_dumpable()
    # setgroups has to be given up before an ordinary user may write gid_map (user_namespaces(7)).
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"0 {user} 1")
    Path("/proc/self/gid_map").write_text(f"0 {group} 1")


def configure() -> None:
    """In pid 1 of new namespaces: private mounts, /proc, a tmpfs of its own, and the loopback interface up."""
    syscalls.mount("none", "/", "", syscalls.MS_REC | syscalls.MS_PRIVATE)
    nothing_special = syscalls.MS_NOSUID | syscalls.MS_NODEV
    syscalls.mount("proc", "/proc", "proc", nothing_special | syscalls.MS_NOEXEC)
    before = os.open(TEMPORARY, os.O_RDONLY | os.O_DIRECTORY)
    try:
        syscalls.mount("faultlab", str(TEMPORARY), "tmpfs", nothing_special, "mode=1777,size=50%")
        _keep_folders_and_programs(before)
    finally:
        os.close(before)
    CELL_FILES.mkdir()
    _bring_up("lo")


def _keep_folders_and_programs(covered: int) -> None:
    """Bind what a run may be asked to use to where it was: results, scenarios, programs.

    `covered` is open at the folder that the tmpfs lies over. Other programs' shared memory is files that nobody can
    execute: it stays out of sight.
    """
    for name in os.listdir(covered):
        with suppress(OSError):  # gone since, or another user's
            mode = os.stat(name, dir_fd=covered, follow_symlinks=False).st_mode
            if stat.S_ISLNK(mode):
                (TEMPORARY / name).symlink_to(os.readlink(name, dir_fd=covered))
                continue
            if stat.S_ISDIR(mode):
                (TEMPORARY / name).mkdir()
            elif stat.S_ISREG(mode) and mode & 0o111:
                (TEMPORARY / name).touch()
            else:
                continue
            syscalls.mount(
                f"/proc/self/fd/{covered}/{name}", str(TEMPORARY / name), "", syscalls.MS_BIND | syscalls.MS_REC
            )


def _bring_up(interface: str) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = struct.pack("16sH14x", interface.encode(), 0)
        (flags,) = struct.unpack_from("H", fcntl.ioctl(control, _SIOCGIFFLAGS, request), 16)
        fcntl.ioctl(control, _SIOCSIFFLAGS, struct.pack("16sH14x", interface.encode(), flags | _IFF_UP))


SysctlReader = Callable[[str], str | None]
"""Reads a setting below /proc/sys; None where this kernel does not have it."""


def read_sysctl(path: str) -> str | None:
    try:
        return Path("/proc/sys", path).read_text().strip()
    except OSError:
        return None


def _in_container() -> bool:
    return Path("/.dockerenv").exists() or Path("/run/.containerenv").exists() or "container" in os.environ


def _filtered() -> bool:
    """Whether a seccomp filter is laid over this process (proc(5): mode 2)."""
    return "\nSeccomp:\t2" in Path("/proc/self/status").read_text()


def _in_chroot() -> bool:
    """Whether this process' root is no mount point: unshare(2) refuses user namespaces there."""
    return not any(line.split(" ", 5)[4] == "/" for line in Path("/proc/self/mountinfo").read_text().splitlines())


def explain(refused: OSError, *, user: int, setting: SysctlReader = read_sysctl) -> EnvironmentUnavailable:
    """Why this machine refused a cell, and what to do about it, from the error and the machine's own settings.

    `user` is the user id outside of the new namespaces, within which every user is 0.
    """
    return EnvironmentUnavailable(*_reason_and_remedy(refused, user, setting))


def _reason_and_remedy(refused: OSError, user: int, setting: SysctlReader) -> tuple[str, str]:
    zero = next((name for name in _LIMITS if setting(f"user/{name}") == "0"), None)
    if zero is not None:
        return (
            f"namespaces are switched off: user.{zero} is 0",
            f"set it with `sudo sysctl -w user.{zero}=15000`",
        )
    if refused.errno in (errno.ENOSPC, errno.EUSERS):
        return (
            "the limit of namespaces is reached: " + ", ".join(f"user.{n}={setting(f'user/{n}')}" for n in _LIMITS),
            "raise these limits with `sudo sysctl -w`, or end other sandboxes",
        )
    if refused.errno in (errno.EPERM, errno.EACCES):
        if setting("kernel/unprivileged_userns_clone") == "0" and user != 0:
            return (
                "ordinary users may not make user namespaces: kernel.unprivileged_userns_clone is 0",
                "allow it with `sudo sysctl -w kernel.unprivileged_userns_clone=1`",
            )
        if setting("kernel/apparmor_restrict_unprivileged_userns") == "1" and user != 0:
            return (
                "AppArmor refuses user namespaces to ordinary programs (Ubuntu 23.10 and later): "
                "kernel.apparmor_restrict_unprivileged_userns is 1",
                "allow it with `sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`, or give this "
                "Python an AppArmor profile with `userns,`",
            )
        if _in_container() or _filtered():
            return (
                f"this container refuses namespaces ({refused})",
                "start it with `--security-opt seccomp=unconfined --security-opt systempaths=unconfined "
                "--security-opt apparmor=unconfined` (Docker, Podman)",
            )
        if _in_chroot():
            return ("user namespaces are refused inside a chroot", "run faultlab outside of it")
    if refused.errno == errno.ENOENT and not TEMPORARY.is_dir():
        return (f"there is no folder {TEMPORARY} to mount a tmpfs on", "create it")
    if refused.errno in (errno.EINVAL, errno.ENOSYS):
        return (
            f"this kernel lacks namespaces ({refused})",
            "use a kernel with CONFIG_USER_NS, CONFIG_NET_NS and CONFIG_PID_NS",
        )
    return (f"this machine refuses namespaces ({refused})", "find out what refuses them")
