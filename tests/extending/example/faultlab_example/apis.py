"""ListGroups, version 0: two consumer groups, on every broker."""

from dataclasses import dataclass

from client.wire.api import Api
from client.wire.messages import Request
from harness.brokers.embedded.handlers import handles
from harness.brokers.embedded.node import Node


@dataclass(frozen=True, slots=True, kw_only=True)
class ListGroupsRequest:
    """Source: ListGroupsRequest.json. Version 0 carries nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedGroup:
    """Source: ListGroupsResponse.json."""

    group_id: str = ""
    protocol_type: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListGroupsResponse:
    """Source: ListGroupsResponse.json."""

    error_code: int = 0
    groups: tuple[ListedGroup, ...] = ()


LIST_GROUPS = Api(
    key=16, module="list_groups", request=ListGroupsRequest, response=ListGroupsResponse, versions=range(1)
)
GROUPS = tuple(ListedGroup(group_id=name, protocol_type="consumer") for name in ("billing", "shipping"))


def _error_response(node: Node, request: Request, code: int) -> ListGroupsResponse:
    return ListGroupsResponse(error_code=code)


@handles(LIST_GROUPS, versions=range(1), error_response=_error_response)
async def list_groups(node: Node, request: Request) -> ListGroupsResponse:
    return ListGroupsResponse(groups=GROUPS)
