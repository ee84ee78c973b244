"""What a CI system reads in the log of a job: groups that fold, annotations beside source lines, the job's summary.

Commands with `--ci` share it; it knows CI systems and nothing of scenarios.
"""

from cli.ci.annotations import Annotation, Level, say
from cli.ci.groups import group
from cli.ci.log import LogStream, QuotedStream, harmless
from cli.ci.step_summary import append_summary, unwritable
from cli.ci.systems import System, this_system

__all__ = [
    "Annotation",
    "Level",
    "LogStream",
    "QuotedStream",
    "System",
    "append_summary",
    "group",
    "harmless",
    "say",
    "this_system",
    "unwritable",
]
