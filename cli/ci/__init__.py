"""What a CI system reads in the log of a job: groups that fold, annotations beside source lines, the job's summary.

Commands with `--ci` share it; it knows CI systems and nothing of scenarios.
"""

from cli.ci.annotations import Annotation, Level, write_annotation
from cli.ci.log import LogStream, SanitizedStream, sanitized
from cli.ci.log_groups import group
from cli.ci.step_summary import append_summary, summary_write_error
from cli.ci.systems import System, detect_system

__all__ = [
    "Annotation",
    "Level",
    "LogStream",
    "SanitizedStream",
    "System",
    "append_summary",
    "detect_system",
    "group",
    "sanitized",
    "summary_write_error",
    "write_annotation",
]
