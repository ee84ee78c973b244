"""Java's flags for a report. Its process lives for seconds and does most things once, so start-up counts most."""

import json
from collections.abc import Sequence
from pathlib import Path

from reports.ingest.size import Size

SMALL = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:MaxTenuringThreshold=1")
"""A small report lives some seconds: the optimising compiler and parallel collectors cost it more than they give, and
what survives one collection survives it all: it need not be copied fifteen times."""
LARGE = (
    "-XX:+UseParallelGC", "-XX:NewRatio=1", "-XX:InitialRAMPercentage=10",
    "-XX:Tier4InvocationThreshold=50000", "-XX:Tier4MinInvocationThreshold=6000",
    "-XX:Tier4CompileThreshold=150000", "-XX:Tier4BackEdgeThreshold=400000",
    "-XX:MaxInlineLevel=9", "-XX:InlineSmallCode=1000",
)  # fmt: skip
"""Records come and go by the million: a heap that begins small is collected again and again until it has grown. The
optimising compiler waits ten times as long as is its habit: what parses lines is asked for a million times all the
same, what plans and compiles queries is not, and optimising that takes as long as all the work on the records. Nor
does it join as many methods into one, which costs more than it gives within half a minute."""
COMMON = (
    "-XX:-UsePerfData", "-XX:MetaspaceSize=256m", "-XX:+ExitOnOutOfMemoryError", "-Xlog:disable",
    "-Xlog:all=error:stderr",
)  # fmt: skip
"""Spark's classes soon fill the 21 MB at which Java stops everything to look for some to unload, and finds none. A Java
without memory left no longer answers: it must end, so that the report can say so. `-Xshare:auto` is the default of
every Java, and Java 25 refuses it beside an ahead-of-time cache."""
NEVER_OPTIMISED = (
    "org/apache/spark/sql/catalyst/analysis/*.*", "org/apache/spark/sql/catalyst/optimizer/*.*",
    "org/apache/spark/sql/catalyst/parser/*.*", "org/apache/spark/sql/catalyst/plans/*.*",
    "org/apache/spark/sql/catalyst/rules/*.*", "org/apache/spark/sql/catalyst/trees/*.*",
    "org/apache/spark/sql/catalyst/expressions/codegen/Code*.*", "org/apache/spark/sql/internal/*.*",
    "org/codehaus/janino/*.*", "org/codehaus/commons/*.*", "org/antlr/*.*", "org/json4s/*.*",
    "org/apache/xbean/*.*", "jdk/internal/org/objectweb/*.*",
    "java/io/Object*.*", "java/util/jar/*.*", "java/util/zip/Zip*.*", "jdk/internal/loader/*.*",
    "jdk/internal/reflect/*.*", "java/lang/invoke/*.*",
    "*.generate_doConsume*",
)  # fmt: skip
"""What plans queries, compiles and loads classes, or sends tasks; and the loops over what is inside a record, which
Spark writes as one huge method: the optimising compiler takes up to 4 s for one, and every other method waits."""


def flags_for(size: Size, work: Path) -> Sequence[str]:
    """`work` takes the files that the flags name, and what Spark and its libraries put into Java's temporary folder:
    elsewhere it would lie there for ever if Java is killed."""
    own = SMALL if size is Size.SMALL else (*LARGE, *exclude_from_c2(NEVER_OPTIMISED, work / "compiler.json"))
    return [*own, *COMMON, f"-Djava.io.tmpdir={work.absolute()}"]


def exclude_from_c2(methods: Sequence[str], file: Path) -> Sequence[str]:
    """Flags that leave methods to the quick compiler. Java takes them from a file: it is written here."""
    file.write_text(json.dumps([{"match": list(methods), "c2": {"Exclude": True}}]))
    return (
        "-XX:+UnlockDiagnosticVMOptions", f"-XX:CompilerDirectivesFile={file.absolute()}", "-XX:CompileCommand=quiet",
    )  # fmt: skip
