"""Go's `time.Sleep`, and which of several goroutines runs first whose sleeps end at about the same moment.

A processor that looks at its timers runs all that have expired, one after the other, and each one's goroutine takes
the place of the one that was to run next: so of two that end within 100 us the later one runs first. But for the
first one, left in the queue, Go wakes a second thread, and where the kernel gives that thread the place of the one
that woke it, the first one runs first, and the later one some tenths of a millisecond after it. Where sleeps end
further apart, or were not begun together and so belong to two processors, the first one runs first.

Go 1.26.8, two processors, bench/goroutine_sleeps.go, of 200: begun at once and up to 100 us apart, the later one runs
first in 172 to 187 on one machine, in 72 to 88 on another, and there in 86 to 105 beside a suite; from 300 us on in 0
to 30. Begun 4 ms apart, when processors were idle in between, in 1 to 23 on the one machine and in 53 to 66 on the
other. With Sarama 1.60.1 beside a suite, two back-offs that were begun 10 us apart: the later one in 20 of 60; in the
other 40 it ran 0.04 to 5 ms after the first, 0.8 ms in the median.
Source: Go 1.26.8, runtime/time.go (timers.check, goroutineReady), runtime/proc.go (ready, stealWork).
"""

from asyncio import get_running_loop

from client.golang.scheduler import Scheduler, Sleeper, current_scheduler

TOGETHER_S = 0.0001
"""Sleeps that were begun in one chain of wake-ups end together if their durations differ by no more than this.

Not their ends are compared: from one beginning to the next it takes ten times as long here as in Go.
"""


async def sleep(duration_s: float) -> None:
    """`time.Sleep`: zero and negative durations return at once, without giving others a turn."""
    if duration_s <= 0:
        return
    scheduler = current_scheduler()
    sleeper = Sleeper(duration_s, scheduler.chain)
    sleeper.timer = get_running_loop().call_later(duration_s, _end, sleeper, scheduler)
    scheduler.asleep[sleeper] = None
    try:
        await sleeper
    except BaseException:
        _remove(sleeper, scheduler)
        raise


def _end(ended: Sleeper, scheduler: Scheduler) -> None:
    """Wake a goroutine whose sleep has ended, and those whose sleeps end together with it: they a little early."""
    longest_s = ended.duration_s + TOGETHER_S
    together = [one for one in scheduler.asleep if one.begun_in == ended.begun_in and one.duration_s <= longest_s]
    together.sort(key=lambda one: one.timer.when())
    for one in together:
        _remove(one, scheduler)
    scheduler.awaken(together)


def _remove(sleeper: Sleeper, scheduler: Scheduler) -> None:
    """Its sleep is over, or nobody waits for its end any more."""
    sleeper.timer.cancel()
    scheduler.asleep.pop(sleeper, None)
