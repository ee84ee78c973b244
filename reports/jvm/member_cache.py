"""Java classes whose members Python asks for again and again, looked up once.

Each `functions.col(...)` of PySpark is three calls into Java: what is `functions`, which five packages and two hundred
jars are searched for, what is `col`, and the call itself. A report makes some thousand columns.
"""

from typing import Any

CACHED_CLASSES = ("functions", "PythonUtils")
"""What PySpark's columns are made of. Source: apache/spark python/pyspark/sql/classic/column.py."""


class MemberCache:
    """Stands for a Java class: a member that was looked up is an attribute from then on."""

    def __init__(self, java_class: Any) -> None:
        self._java_class = java_class

    def __getattr__(self, name: str) -> Any:
        member = getattr(self._java_class, name)
        setattr(self, name, member)
        return member


def cache_members(jvm: Any) -> None:
    """Let the view of a Java that PySpark talks to answer from memory."""
    for name in CACHED_CLASSES:
        setattr(jvm, name, MemberCache(getattr(jvm, name)))
