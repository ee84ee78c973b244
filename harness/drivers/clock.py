"""Whether a subject's own times are trusted: only if its clock is the lab's."""

TOLERANCE_NS = 1_000_000
"""Rounding, and the time between two readings of one clock on two processors."""


class SubjectClock:
    """Compares a subject's clock with the lab's. `started_ns`: the lab's clock when the subject was started."""

    def __init__(self, started_ns: int) -> None:
        self._started_ns = started_ns
        self._is_shared = False

    def calibrate(self, clock_ns: int | None, received_ns: int) -> str | None:
        """Take the clock value of `ready`. Why the subject's times are not used, None where they are."""
        if clock_ns is None:
            return "the subject says no clock_ns: its lines are stamped when the lab has them"
        earliest_ns, latest_ns = self._started_ns - TOLERANCE_NS, received_ns + TOLERANCE_NS
        if earliest_ns <= clock_ns <= latest_ns:
            self._is_shared = True
            return None
        off_s = (clock_ns - received_ns) / 1e9
        return (
            f"the subject's clock_ns is {off_s:+.3f} s off the lab's CLOCK_MONOTONIC: its lines are stamped on receipt"
        )

    def trusted_window(self, received_ns: int) -> tuple[int, int]:
        """The earliest and latest time at which a line received at `received_ns` can have been written. If the
        subject's times are not trusted the window is empty: it ends before it begins."""
        return (self._started_ns - TOLERANCE_NS, received_ns + TOLERANCE_NS) if self._is_shared else (1, 0)

    def trusted_time(self, at_ns: int | None, received_ns: int, *, not_before_ns: int | None = None) -> int | None:
        """The subject's time if it is trusted, else None.

        A time before its cause (`not_before_ns`) or after the receipt of the line is not trusted.
        """
        earliest_ns, latest_ns = self.trusted_window(received_ns)
        if not_before_ns is not None:
            earliest_ns = max(earliest_ns, not_before_ns - TOLERANCE_NS)
        return at_ns if at_ns is not None and earliest_ns <= at_ns <= latest_ns else None
