"""Go's `time.Sleep`, and which of several goroutines runs first whose sleeps end at about the same moment.

A sleep's timer belongs to the processor that its goroutine ran on. A processor that looks at its timers runs all that
have expired, one after the other, and each one's goroutine takes the place of the one that was to run next: so of two
that end within 100 us the later one runs first. Where the timers belong to two processors, or end further apart, the
first one does.

Go 1.26.8, two processors, bench/goroutine_sleeps.go, of 200: begun at once, the later one runs first in 172 to 187 up
to a gap of 100 us, and in 0 to 24 from 300 us on; begun 4 ms apart, when processors were idle in between, in 1 to 23.
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
    sleeper = Sleeper(duration_s, (scheduler.chain, scheduler.processor))
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
