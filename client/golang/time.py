"""Go's timers on the loop's clock: After, Ticker and Timer. All durations and moments are in seconds."""

import asyncio

from client.golang.channel import Channel


def after(duration_s: float) -> Channel[float]:
    """`time.After`: a channel that gets the loop's time once the duration has passed."""
    loop = asyncio.get_running_loop()
    channel: Channel[float] = Channel(1)
    loop.call_later(max(duration_s, 0.0), lambda: channel.try_send(loop.time()))
    return channel


class Ticker:
    """`time.Ticker`: a tick each period in `channel`; a tick is dropped if the one before is still there."""

    def __init__(self, period_s: float) -> None:
        assert period_s > 0, "non-positive interval for NewTicker"
        self.channel: Channel[float] = Channel(1)
        self._loop = asyncio.get_running_loop()
        self._period_s = period_s
        self._next_at = self._loop.time() + period_s
        self._timer = self._loop.call_at(self._next_at, self._tick)

    def _tick(self) -> None:
        self.channel.try_send(self._loop.time())
        self._next_at += self._period_s
        self._timer = self._loop.call_at(self._next_at, self._tick)

    def stop(self) -> None:
        """No more ticks; the channel stays open, as in Go."""
        self._timer.cancel()


class Timer:
    """`time.Timer`: the loop's time in `channel` once the duration has passed."""

    def __init__(self, duration_s: float) -> None:
        self.channel: Channel[float] = Channel(1)
        self._loop = asyncio.get_running_loop()
        self._timer = self._loop.call_later(max(duration_s, 0.0), self._fire)

    def _fire(self) -> None:
        self.channel.try_send(self._loop.time())

    def stop(self) -> None:
        """It no longer fires. What it has sent before stays in the channel."""
        self._timer.cancel()

    def reset(self, duration_s: float) -> None:
        """It fires once more, after this."""
        self._timer.cancel()
        self._timer = self._loop.call_later(max(duration_s, 0.0), self._fire)
