"""Packet rules over netlink: added to the kernel for a lever, counted, and confirmed to be gone again."""

from harness.environments.linux.packets.rules import (
    HELD_COPY,
    NftRule,
    chain_for,
    copies_dropped,
    count_from_client,
    count_refusals,
    rules_for,
    rules_that_duplicate,
    rules_that_hold,
)
from harness.environments.linux.packets.table import COPIES, SEND, TREAT, WATCH, PacketRuleError, PacketTable, RuleGroup

__all__ = [
    "COPIES",
    "HELD_COPY",
    "SEND",
    "TREAT",
    "WATCH",
    "NftRule",
    "PacketRuleError",
    "PacketTable",
    "RuleGroup",
    "chain_for",
    "copies_dropped",
    "count_from_client",
    "count_refusals",
    "rules_for",
    "rules_that_duplicate",
    "rules_that_hold",
]
