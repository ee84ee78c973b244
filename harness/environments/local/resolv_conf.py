"""Whom programs in a cell ask for names: files of the cell's own over the machine's.

libc and Go's own resolver read /etc/resolv.conf for the name server and /etc/nsswitch.conf for the order of sources
(resolv.conf(5), nsswitch.conf(5)). Only the cell's mount namespace has what is bound over them.
"""

from pathlib import Path

from harness.environments.local import syscalls
from harness.environments.local.namespaces import CELL_FILES

_RESOLV_CONF, _NSSWITCH_CONF = Path("/etc/resolv.conf"), Path("/etc/nsswitch.conf")


class NamesUnavailable(Exception):
    """Programs in this cell cannot be led to the run's name server; says why, and what to do."""


def name(server: str) -> None:
    """Make every process of this cell that starts from now on ask this address. Raises NamesUnavailable."""
    _cover(_RESOLV_CONF, f"nameserver {server}\n")
    if _NSSWITCH_CONF.exists():
        _cover(_NSSWITCH_CONF, "hosts: files dns\n")


def _cover(file: Path, text: str) -> None:
    own = CELL_FILES / file.name
    own.write_text(text)
    try:
        syscalls.mount(str(own), str(file), "", syscalls.MS_BIND)
    except OSError as refused:
        raise NamesUnavailable(
            f"nothing can be mounted over {file} in a cell ({refused.strerror}): clusters with `names: true` need the"
            " file to be there"
        ) from refused
