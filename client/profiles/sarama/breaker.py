"""The circuit breaker around metadata look-ups: it counts errors and refuses work; it never retries anything.

Source: eapache/go-resiliency v1.2.0 breaker/breaker.go (1.27.2), v1.7.0 (1.60.1): alike.
"""

import asyncio
from collections.abc import Awaitable, Callable
from enum import StrEnum

from client.errors import ClientError
from client.events import TraceKind
from client.golang import sleep
from client.runtime import ClientRuntime


class State(StrEnum):
    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half-open"


class Breaker:
    """Opens after `error_threshold` errors without a free period of `timeout_s`; half-closes after `timeout_s`; then
    `success_threshold` successes close it and one error opens it again. `name` is the `purpose` of its
    events in the trace."""

    def __init__(
        self,
        runtime: ClientRuntime,
        error_threshold: int,
        success_threshold: int,
        timeout_s: float,
        *,
        name: str,
    ) -> None:
        self._runtime = runtime
        self._error_threshold = error_threshold
        self._success_threshold = success_threshold
        self._timeout_s = timeout_s
        self._name = name
        self._state = State.CLOSED
        self._errors = 0
        self._successes = 0
        self._last_error_at = 0.0

    async def run(self, work: Callable[[], Awaitable[None]]) -> None:
        """Raises ErrBreakerOpen at once while the breaker is open, else whatever the work raises."""
        state = self._state
        if state is State.OPEN:
            raise ClientError("breaker.ErrBreakerOpen", "circuit breaker is open")
        try:
            await work()
        except ClientError:
            self._failed()
            raise
        if state is not State.CLOSED:
            self._succeeded()

    def _succeeded(self) -> None:
        if self._state is State.HALF_OPEN:
            self._successes += 1
            if self._successes == self._success_threshold:
                self._change_state(State.CLOSED)

    def _failed(self) -> None:
        now_at = asyncio.get_running_loop().time()
        if self._errors > 0 and now_at > self._last_error_at + self._timeout_s:
            self._errors = 0
        if self._state is State.CLOSED:
            self._errors += 1
            if self._errors == self._error_threshold:
                self._open()
            else:
                self._last_error_at = now_at
        elif self._state is State.HALF_OPEN:
            self._open()

    def _open(self) -> None:
        self._change_state(State.OPEN)
        self._runtime.tasks.go(self._timer(), f"{self._name}/timer")

    async def _timer(self) -> None:
        await sleep(self._timeout_s)
        self._change_state(State.HALF_OPEN)

    def _change_state(self, state: State) -> None:
        self._errors = 0
        self._successes = 0
        self._state = state
        self._runtime.tracer.emit(TraceKind.STATE, purpose=self._name, outcome=state.value)
