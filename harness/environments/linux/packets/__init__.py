"""Packet rules over netlink: added to the kernel for a lever, counted, and confirmed to be gone again."""

from harness.environments.linux.packets.rules import NftRule, chain_for, count_from_client, count_refusals, rules_for
from harness.environments.linux.packets.table import SEND, TREAT, WATCH, PacketRuleError, PacketTable, RuleGroup

__all__ = [
    "SEND",
    "TREAT",
    "WATCH",
    "NftRule",
    "PacketRuleError",
    "PacketTable",
    "RuleGroup",
    "chain_for",
    "count_from_client",
    "count_refusals",
    "rules_for",
]
