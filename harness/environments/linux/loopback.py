"""The loopback interface as an ordinary network: 1,500 bytes a packet, cut by the kernel and not by a card.

Source: netdevice(7) for the MTU, Linux include/uapi/linux/ethtool.h for what a card would do.
"""

import ctypes
import fcntl
import socket
import struct

from harness.environments.world import WorldError

ETHERNET_MTU = 1_500
_SIOCSIFMTU, _SIOCETHTOOL = 0x8922, 0x8946
_OFFLOADS = (0x1F, 0x24)
"""ETHTOOL_STSO and ETHTOOL_SGSO: segmentation of TCP, and of anything, behind the packet rules."""


def send_ordinary_packets() -> None:
    """For connections that are dialled from now on, in this network namespace. Raises WorldError."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        try:
            fcntl.ioctl(control, _SIOCSIFMTU, struct.pack("16si20x", b"lo", ETHERNET_MTU))
            for offload in _OFFLOADS:
                off = ctypes.create_string_buffer(struct.pack("II", offload, 0))
                fcntl.ioctl(control, _SIOCETHTOOL, struct.pack("16sQ16x", b"lo", ctypes.addressof(off)))
        except OSError as exc:
            raise WorldError(
                "packets-too-large", f"the kernel does not cut what loopback sends into ordinary packets ({exc})"
            ) from exc
