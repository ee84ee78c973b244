"""InitProducerId, versions 0-4.

- Gives an idempotent producer an id that no broker of the cluster has given away, and epoch 0.
- Transactions are not supported: a transactional id gets INVALID_REQUEST.
"""

import logging

from client.wire import errors
from client.wire.apis.init_producer_id import INIT_PRODUCER_ID, InitProducerIdRequest, InitProducerIdResponse
from client.wire.messages import Request
from harness.brokers.embedded.handlers import handles
from harness.brokers.embedded.log import StorageError
from harness.brokers.embedded.node import Node

_log = logging.getLogger(__name__)


def _error_response(node: Node, request: Request, code: int) -> InitProducerIdResponse:
    return InitProducerIdResponse(error_code=code, producer_epoch=-1)


@handles(INIT_PRODUCER_ID, versions=range(5), error_response=_error_response)
async def init_producer_id(node: Node, request: Request) -> InitProducerIdResponse:
    body: InitProducerIdRequest = request.body
    if body.transactional_id is not None:
        return _error_response(node, request, errors.INVALID_REQUEST)
    try:
        return InitProducerIdResponse(producer_id=node.logs.next_producer_id())
    except StorageError as wrong:
        _log.error("broker %d: %s", node.broker_id, wrong)
        return _error_response(node, request, errors.KAFKA_STORAGE_ERROR)
