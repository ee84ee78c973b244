"""A dial as the trace shows it: its start, its wait, its end. How addresses are tried is the caller's."""

from collections.abc import Awaitable, Callable

from client.events import TraceKind, Tracer, TraceValue
from client.limit import Limit
from client.net.connection import Connection
from client.net.errors import Cause, NetError
from client.net.stream import Stream

_OUTCOMES = {Cause.TIMEOUT: "timeout", Cause.TIMED_OUT_BY_KERNEL: "timeout", Cause.REFUSED: "refused"}
_WAIT_OUTCOMES = {"connected": "satisfied", "timeout": "elapsed"}


async def traced_dial(
    dialing: Callable[[Callable[[], None]], Awaitable[Stream]], tracer: Tracer, number: int, *, broker: int,
    address: str, limit: Limit, from_connect: bool = False,
) -> Connection:  # fmt: skip
    """Dial, and make a Connection of the stream. `number` is the connection's, `broker` is -1 for a bootstrap address.

    `dialing` is called with what it has to call before it connects. `from_connect`: the dial begins in the trace then,
    so that a look-up that fails is none; else at once. Raises what `dialing` raises.
    """
    where: dict[str, TraceValue] = {"connection": number, "broker": broker, "address": address}
    began = False

    def begin() -> None:
        nonlocal began
        if not began:
            began = True
            tracer.emit(TraceKind.DIAL_STARTED, **where)

    if not from_connect:
        begin()
    wait = tracer.wait(limit, "dial", **where)
    outcome, error_text = "failed", None
    try:
        stream = await dialing(begin)
        outcome = "connected"
    except NetError as error:
        outcome = _OUTCOMES.get(error.cause, "failed")
        error_text = str(error)
        raise
    finally:
        wait.end(_WAIT_OUTCOMES.get(outcome, "failed"))
        if began:
            why = {} if error_text is None else {"error": error_text}
            tracer.emit(TraceKind.DIAL_ENDED, **where, outcome=outcome, **why)
    return Connection(stream, tracer, number, broker)
