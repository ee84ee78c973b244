"""Java's flags for a report. `python -m bench.report_tricks` prints what each of those for speed gains on its own; its
docstring has the gains that were last measured, with their PySpark and Java."""

from collections.abc import Sequence
from pathlib import Path

from reports.ingest.size import Size

SMALL = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
"""A small report lives some seconds: the optimising compiler and parallel collectors cost it more than they give."""
LARGE = (
    "-XX:+UseParallelGC",
    "-XX:Tier4InvocationThreshold=50000", "-XX:Tier4MinInvocationThreshold=6000",
    "-XX:Tier4CompileThreshold=150000", "-XX:Tier4BackEdgeThreshold=400000",
)  # fmt: skip
"""The optimising compiler waits ten times as long as by default: what parses lines is called a million times all the
same, while to optimise what plans queries takes longer than it saves."""
COMMON = ("-XX:+ExitOnOutOfMemoryError", "-Xlog:disable", "-Xlog:all=error:stderr")
"""A Java without memory left no longer answers: it must end, so that the report can say so. `-Xshare:auto` is the
default of every Java, and Java 25 refuses it beside an ahead-of-time cache."""


def flags_for(size: Size, work: Path) -> Sequence[str]:
    """`work` takes what Spark and its libraries put into Java's temporary folder: elsewhere it would lie there for ever
    if Java is killed."""
    return [*(SMALL if size is Size.SMALL else LARGE), *COMMON, f"-Djava.io.tmpdir={work.absolute()}"]
