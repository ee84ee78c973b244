"""The packet rules of one network namespace, over netlink: without the `nft` program, in a table of our own.

Rules are added and removed in one transaction each, marked by a comment of their own, and read back: a lever counts as
pulled when the kernel lists its rules, and as healed when it does not.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

from pyroute2.netlink import NLM_F_ACK, NLM_F_APPEND, NLM_F_CREATE, NLM_F_DUMP, NLM_F_REQUEST
from pyroute2.netlink.exceptions import NetlinkError
from pyroute2.netlink.nfnetlink import nfgen_msg
from pyroute2.netlink.nfnetlink.nftsocket import (
    NFNL_SUBSYS_NFTABLES,
    NFT_MSG_DELRULE,
    NFT_MSG_GETRULE,
    NFT_MSG_NEWRULE,
    nft_rule_msg,
)
from pyroute2.netlink.nlsocket import NetlinkRequest
from pyroute2.nftables.main import AsyncNFTables

from harness.environments.linux.netlink_dump import dump
from harness.environments.linux.packets.expressions import Expressions

_IPV4 = 2
_TABLE = "faultlab"
_DUMP = NLM_F_REQUEST | NLM_F_DUMP
_BATCH_BEGIN, _BATCH_END = 0x10, 0x11

COPIES, TREAT, WATCH, SEND = "copies", "treat", "watch", "send"
"""Three chains on the input hook: `copies` drops what is for packet sockets alone; `treat` gives verdicts; `watch`
comes after it and counts what was let through. `send` gives verdicts on the output hook."""

_HOOKS = ((COPIES, "input", -1), (TREAT, "input", 0), (WATCH, "input", 1), (SEND, "output", 0))


class PacketRuleError(Exception):
    """The kernel refused a packet rule, or kept one that should be gone; says which and why."""


class PacketTable:
    """The lab's table in the namespace in which `open` is called, on the running event loop."""

    def __init__(self) -> None:
        self._netlink: Any = None
        self._made = 0
        # The kernel refuses a second dump on one socket as busy.
        self._one_at_a_time = asyncio.Lock()

    async def open(self) -> None:
        """Make the table and its chains. Raises PacketRuleError."""
        self._netlink = AsyncNFTables(nfgen_family=_IPV4)
        try:
            await self._netlink.setup_endpoint()
            await self._netlink.table("add", name=_TABLE)
            for chain, hook, priority in _HOOKS:
                await self._netlink.chain(
                    "add", table=_TABLE, name=chain, hook=hook, type="filter", policy=1, priority=priority
                )
        except (NetlinkError, OSError) as exc:
            raise PacketRuleError(
                f"the kernel makes no nftables chain in a namespace ({exc}); it needs nf_tables (`modprobe nf_tables`)"
            ) from exc

    async def add(self, chain: str, rules: Sequence[Expressions]) -> "RuleGroup":
        """Append rules at once, all or none, and read them back. Raises PacketRuleError."""
        self._made += 1
        group = RuleGroup(self, chain, f"faultlab-{self._made}")
        await self._transact(
            [
                _message(
                    NFT_MSG_NEWRULE,
                    NLM_F_CREATE | NLM_F_APPEND,
                    TABLE=_TABLE,
                    CHAIN=chain,
                    EXPRESSIONS=list(rule),
                    USERDATA=f"{group.mark}.{place}",
                )
                for place, rule in enumerate(rules)
            ]
        )
        listed = await self.listed(chain, group.mark)
        if len(listed) != len(rules):
            raise PacketRuleError(f"the kernel lists {len(listed)} of {len(rules)} new packet rules")
        group.handles = tuple(rule.handle for rule in listed)
        return group

    async def delete(self, chain: str, handles: Sequence[int]) -> None:
        await self._transact([_message(NFT_MSG_DELRULE, 0, TABLE=_TABLE, CHAIN=chain, HANDLE=h) for h in handles])

    async def listed(self, chain: str, mark: str) -> list["ListedRule"]:
        """The rules that the kernel has under this mark now, in the order in which they were given."""
        request, found = _message(NFT_MSG_GETRULE, 0, TABLE=_TABLE, CHAIN=chain), []
        try:
            async with self._one_at_a_time:
                rules = await dump(lambda: self._netlink.request_get(request, NFT_MSG_GETRULE, msg_flags=_DUMP))
        except NetlinkError as exc:
            raise PacketRuleError(f"the kernel did not list the packet rules ({exc})") from exc
        for rule in rules:
            place = _place(rule, mark)
            if place is not None and rule.get_attr("NFTA_RULE_CHAIN") == chain:
                found.append((place, ListedRule(rule.get_attr("NFTA_RULE_HANDLE"), _counted(rule))))
        return [rule for _, rule in sorted(found, key=lambda pair: pair[0])]

    async def _transact(self, messages: list[Any]) -> None:
        """As pyroute2's nlm_request_batch, but yielding to the loop between messages: encoding a rule takes
        milliseconds, and a reset has a dozen of them."""
        answered: list[NetlinkRequest] = []
        sent = b""
        try:
            for message in (_frame(_BATCH_BEGIN), *messages, _frame(_BATCH_END)):
                request = NetlinkRequest(self._netlink, message)
                await request.prepare()
                sent += request.msg.data
                if message["header"]["flags"] & NLM_F_ACK:
                    answered.append(request)
                else:
                    request.cleanup()
                await asyncio.sleep(0)
            self._netlink.send(sent)
            for request in answered:
                async for _ in request.response():
                    pass
        except NetlinkError as exc:
            modules = "nft_reject_ipv4, and for resets nft_dup_ipv4 and nft_numgen"
            raise PacketRuleError(f"the kernel refused a packet rule ({exc}); rules need {modules}") from exc

    def close(self) -> None:
        """Close the netlink socket. The table goes with its network namespace."""
        if self._netlink is not None:
            self._netlink.close()


class ListedRule:
    """A rule as the kernel lists it: its handle, and the packets that it has counted."""

    def __init__(self, handle: int, packets: int) -> None:
        self.handle = handle
        self.packets = packets


class RuleGroup:
    """Rules that were added together."""

    def __init__(self, table: PacketTable, chain: str, mark: str) -> None:
        self.mark = mark
        self.handles: tuple[int, ...] = ()
        self._table = table
        self._chain = chain
        self._last: tuple[int, ...] = ()

    async def packet_counts(self) -> tuple[int, ...]:
        """Packets that each rule has matched, in the order of the rules; after `remove`, what it had matched then."""
        if self.handles:
            self._last = tuple(rule.packets for rule in await self._table.listed(self._chain, self.mark))
        return self._last

    async def remove(self) -> None:
        """Remove the rules and confirm that they are gone. Raises PacketRuleError."""
        if not self.handles:
            return
        await self.packet_counts()
        await self._table.delete(self._chain, self.handles)
        left = await self._table.listed(self._chain, self.mark)
        if left:
            raise PacketRuleError(f"the kernel still lists {len(left)} packet rules that were removed")
        self.handles = ()


def _message(kind: int, flags: int, **attributes: Any) -> Any:
    message = nft_rule_msg()
    message["header"]["type"] = (NFNL_SUBSYS_NFTABLES << 8) | kind
    message["header"]["flags"] = NLM_F_REQUEST | NLM_F_ACK | flags
    message["nfgen_family"] = _IPV4
    message["attrs"] = [[f"NFTA_RULE_{name}", value] for name, value in attributes.items()]
    return message


def _frame(kind: int) -> Any:
    """The begin or end of a transaction: all of it takes effect, or nothing."""
    message = nfgen_msg()
    message["res_id"] = NFNL_SUBSYS_NFTABLES
    message["header"]["type"] = kind
    message["header"]["flags"] = NLM_F_REQUEST
    return message


def _place(rule: Any, mark: str) -> int | None:
    owner, _, place = str(rule.get_attr("NFTA_RULE_USERDATA")).rpartition(".")
    return int(place) if owner == mark else None


def _counted(rule: Any) -> int:
    for expression in rule.get_attr("NFTA_RULE_EXPRESSIONS") or ():
        if expression.get_attr("NFTA_EXPR_NAME") == "counter":
            return int(expression.get_attr("NFTA_EXPR_DATA").get_attr("NFTA_COUNTER_PACKETS"))
    return 0
