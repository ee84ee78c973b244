"""What many runs were expected to have in common, in words and figures."""

from cli.show.formatting import amount, format_tolerance
from harness.plan import Statistic
from harness.records.group import GroupRecord

SIGNS = {"at_most": "≤ ", "at_least": "≥ "}


def word(group: GroupRecord | Statistic) -> str:
    """`mean`, `share`, `0.9-quantile`."""
    return f"{group.q:g}-quantile" if group.statistic == "quantile" else group.statistic


def called(group: GroupRecord | Statistic) -> str:
    """`mean connect.time_to_end`, `share probe.outcome == 'failed'`."""
    return f"{word(group)} {group.of}"


def predicted(group: GroupRecord) -> str:
    """The bound with its sign where it is not equality."""
    if group.predicted is None:
        return "none"
    return f"{SIGNS.get(group.kind, '')}{amount(group.predicted, group.unit)}"


def estimate(group: GroupRecord) -> str:
    return amount(group.estimate, group.unit)


def tolerance(group: GroupRecord) -> str:
    """`± 0.080` around an equality."""
    return "" if group.predicted is None else format_tolerance(group.predicted, group.low, group.high, form=".3f")


def interval(group: GroupRecord) -> str:
    """` [0.101 .. 0.257]`: what the runs are compatible with."""
    ends = ["" if end is None else f"{end:.3f}" for end in (group.interval_low, group.interval_high)]
    return f" [{ends[0]} .. {ends[1]}]" if any(ends) else ""
