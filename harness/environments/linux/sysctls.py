"""What the times depend on: the kernel, its timer frequency, and the TCP settings that every cell pins.

The values are Linux's own defaults, so that a machine's tuning does not change what is measured. Times:
Documentation/networking/ip-sysctl of the kernel.
"""

import contextlib
import os
import socket
import struct
from pathlib import Path

from harness.story import Kernel

_NET = Path("/proc/sys/net")

PINNED = {
    # Seconds at which SYNs are retransmitted: 1, 2, 3, 4, 5, 7, 11, 19 s ... (kernels before 6.5: 1, 3, 7, 15 s ...)
    "ipv4/tcp_syn_linear_timeouts": "4",
    "ipv4/tcp_syn_retries": "6",
    "ipv4/tcp_synack_retries": "5",
    # How long an established connection is retransmitted, and one whose process has gone
    "ipv4/tcp_retries1": "3",
    "ipv4/tcp_retries2": "15",
    "ipv4/tcp_orphan_retries": "0",
    "ipv4/tcp_rto_min_us": "200000",
    "ipv4/tcp_rto_max_ms": "120000",
    "ipv4/tcp_thin_linear_timeouts": "0",
    "ipv4/tcp_early_retrans": "3",
    "ipv4/tcp_recovery": "1",
    "ipv4/tcp_frto": "2",
    "ipv4/tcp_reordering": "3",
    "ipv4/tcp_fin_timeout": "60",
    "ipv4/tcp_keepalive_time": "7200",
    "ipv4/tcp_keepalive_intvl": "75",
    "ipv4/tcp_keepalive_probes": "9",
    # How much a sender may write before it blocks
    "ipv4/tcp_rmem": "4096\t131072\t6291456",
    "ipv4/tcp_wmem": "4096\t16384\t4194304",
    "ipv4/tcp_moderate_rcvbuf": "1",
    # reno, because it alone may be chosen by every namespace on every kernel
    "ipv4/tcp_congestion_control": "reno",
    "ipv4/tcp_slow_start_after_idle": "1",
    "ipv4/tcp_ecn": "2",
    "ipv4/tcp_sack": "1",
    "ipv4/tcp_timestamps": "1",
    "ipv4/tcp_window_scaling": "1",
    "ipv4/tcp_autocorking": "1",
    "ipv4/tcp_fastopen": "1",
    # What one connection leaves for the next
    "ipv4/tcp_no_metrics_save": "0",
    "ipv4/tcp_tw_reuse": "2",
    "ipv4/ip_local_port_range": "32768\t60999",
    # What a listener accepts
    "core/somaxconn": "4096",
    "ipv4/tcp_max_syn_backlog": "2048",
    "ipv4/tcp_syncookies": "1",
    "ipv4/tcp_abort_on_overflow": "0",
}
"""Path under /proc/sys/net, and its value. What a kernel does not know, or does not let a namespace set, stays."""


def pin() -> None:
    """Set every pinned value in the calling process' network namespace, as far as its kernel has it."""
    for path, value in PINNED.items():
        with contextlib.suppress(OSError):
            (_NET / path).write_text(value)


def kernel() -> Kernel:
    """Release, timer frequency and the values that hold now, pinned or not: read back, never assumed."""
    values = {}
    for path in PINNED:
        with contextlib.suppress(OSError):
            values[f"net.{path.replace('/', '.')}"] = " ".join((_NET / path).read_text().split())
    return Kernel(release=os.uname().release, hz=_timer_frequency(), sysctls=values)


def _timer_frequency() -> int:
    """HZ, from the retransmission time-out of a fresh loopback connection: 200 ms and one jiffy."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as connected:
        connected.connect(server.getsockname())
        info = connected.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
    (rto_us,) = struct.unpack_from("I", info, 8)
    jiffy_us = rto_us - 200_000
    return round(1_000_000 / jiffy_us) if jiffy_us > 0 else 1000
