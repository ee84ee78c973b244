"""Packet rules by netlink: a lever's rules, put into the kernel, counted, and seen to be gone again."""

from harness.packets.rules import Rule, chain_of, refusals_from, rules_of
from harness.packets.table import TREAT, WATCH, PacketsRefused, PacketTable, RuleGroup

__all__ = [
    "TREAT",
    "WATCH",
    "PacketTable",
    "PacketsRefused",
    "Rule",
    "RuleGroup",
    "chain_of",
    "refusals_from",
    "rules_of",
]
