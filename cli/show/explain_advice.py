"""What to set and what that costs, and what becomes of a message whose send failed, as rows on the terminal."""

from collections.abc import Iterator, Sequence
from math import isinf

from rich.text import Text

from cli.show.explain_rows import Rows
from harness.explaining import Budget, HealedRun, HealingSweep, HealthyPath, Option, Price, Trial
from harness.quantities import duration_text

MOST_LENGTHS = 3
"""So many of the lengths of a fault are named as examples."""


def healing_rows(healing: HealingSweep, rows: Rows) -> Iterator[Text]:
    """What a fault does that lasts only for a while, by how long it lasts."""
    yield from rows.row("rides out", _rides_out(healing))
    if healing.delivers:
        yield from rows.row("the message", _message(healing))
    if healing.recoveries_s:
        most = _seconds(max(healing.recoveries_s))
        yield from rows.row("recovers", f"within {most} after healing, for a caller who tries again")
    elif healing.never_recovers:
        yield from rows.row("recovers", "not within 2 min after healing, for a caller who tries again")


def _rides_out(healing: HealingSweep) -> str:
    if not any(run.failed for run in healing.runs):
        return "every fault length that was tried"
    if not healing.rides_out_s:
        return f"nothing: even a fault of {_seconds(healing.runs[0].lasted_s)} is an error"
    return f"a fault of up to {_seconds(healing.rides_out_s)}; a longer one may be an error"


def _message(healing: HealingSweep) -> str:
    written, doubled = healing.written_though_failed, healing.doubled
    failed = sum(run.failed for run in healing.runs)
    if not written:
        told = f"is not written if its send failed ({failed} fault lengths tried)"
    else:
        told = f"may be written even if its send failed (fault of {_lengths(written)}): sending it again doubles it"
    return told + (f"; the client itself may write it twice (fault of {_lengths(doubled)})" if doubled else "")


def _lengths(runs: Sequence[HealedRun]) -> str:
    shown = ", ".join(_seconds(run.lasted_s) for run in runs[:MOST_LENGTHS])
    return shown if len(runs) <= MOST_LENGTHS else f"{shown} and {len(runs) - MOST_LENGTHS} more"


def budget_rows(budget: Budget, text: str, now_s: float, rows: Rows) -> Iterator[Text]:
    """Each way with its price; or that there is no safe one."""
    label = f"budget {text}"
    if budget.met:
        yield from rows.row(label, f"met as it is: {now_s:.3f} s")
        return
    if not budget.options:
        yield from cannot_be_met(label, budget.shortest_s, rows)
    for option in budget.options:
        yield rows.figure(label, changes_text(option.trial), f"{option.trial.run.seconds or 0.0:.3f} s")
        yield rows.paragraph(_price(option, budget.now), lead=" " * 14, style="dim")
        label = "or"
    for trial in budget.failed if not budget.options else ():
        simulated = trial.run.why or "nothing" if trial.run.seconds is None else f"{trial.run.seconds:.3f} s"
        said = f"{changes_text(trial)}: {trial.predicted_s or 0.0:.3f} s by the formula, simulated {simulated}"
        yield from rows.row("but not", said)
    yield from healthy_row(budget.healthy, rows)


def cannot_be_met(label: str, shortest_s: float | None, rows: Rows) -> Iterator[Text]:
    """That no settings are both short enough and long enough for a healthy path."""
    why = "no setting of the client makes it shorter"
    if shortest_s is not None:
        why = f"with every time-out as short as a healthy path allows it still takes {shortest_s:.3f} s"
    yield from rows.row(label, f"cannot be met safely: {why}", style="bold red")


def healthy_row(healthy: HealthyPath, rows: Rows) -> Iterator[Text]:
    """What no proposal goes below."""
    given = (
        f"--round-trip {duration_text(healthy.round_trip_s)} --broker-time {duration_text(healthy.broker_s)}"
        f" --pause {duration_text(healthy.pause_s)}"
    )
    dial, answer = (duration_text(round(healthy.least_s((wait,)), 6)) for wait in ("dial", "answer"))
    yield from rows.row("healthy", f"a dial needs {dial}, an answer {answer} ({given})", style="dim")


def _price(option: Option, now: Price | None) -> str:
    """What is paid beside what was paid before."""
    price, told = option.price, []
    if not isinf(option.margin):
        told.append(f"at least {option.margin:.1f} x what a healthy path needs")
    if price.healing is not None and now is not None and now.healing is not None:
        before_s, after_s = now.healing.rides_out_s, price.healing.rides_out_s
        if after_s < before_s:
            told.append(f"faults longer than {_seconds(after_s)} may be errors (now {_seconds(before_s)})")
        if price.healing.written_though_failed and not now.healing.written_though_failed:
            told.append("a failed message may still be written")
        if price.healing.doubled and not now.healing.doubled:
            told.append("a message may be written twice")
        told += _recovery(price.healing, now.healing)
    if now is not None and now.survives_reset and not price.survives_reset:
        told.append("a connection that is reset once is an error: nothing is tried again")
    fresh = [name for name in price.lost_syn_fails if now is None or name not in now.lost_syn_fails]
    if fresh:
        told.append(f"{', '.join(fresh)} below 1 s: one lost SYN fails the dial")
    return "; ".join(told) or "nothing else changes"


def _recovery(after: HealingSweep, before: HealingSweep) -> list[str]:
    if not after.recoveries_s or not before.recoveries_s:
        return []
    was_s, is_s = max(before.recoveries_s), max(after.recoveries_s)
    return [] if abs(is_s - was_s) < 0.1 else [f"recovers within {_seconds(is_s)} (now {_seconds(was_s)})"]


def _seconds(value: float) -> str:
    return f"{value:.1f} s" if value >= 1 else f"{1e3 * value:.0f} ms"


def changes_text(trial: Trial) -> str:
    """`Net.ReadTimeout 1s, Producer.Retry.Max 0`."""
    return ", ".join(f"{name} {text}" for (name, _), text in zip(trial.changes, trial.texts, strict=True))
