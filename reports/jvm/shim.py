"""A Java home for Spark where the runtime lacks a module that Spark asks every Java for.

Spark 4 passes `--add-modules=jdk.incubator.vector`; a runtime without that module refuses to start, although the module
only speeds up linear algebra. The home made here has one file, `bin/java`, which drops the argument and becomes Java.
Source: apache/spark launcher/src/main/java/org/apache/spark/launcher/JavaModuleOptions.java.
"""

import shlex
import tempfile
from pathlib import Path

from reports.jvm.runtime import VECTOR_MODULE, Java

SCRIPT = """\
#!/bin/sh
# Spark asks every Java for {module}, which this runtime lacks: drop the argument.
for argument do
  shift
  [ "$argument" = --add-modules={module} ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


def home_for_spark(java: Java, folder: Path) -> Path:
    """The JAVA_HOME to give to Spark: the runtime's own where it has the module, else the shim's, made if needed.

    Raises OSError where the cache cannot be written.
    """
    if java.has_vector:
        return java.home
    home = folder / "home"
    script = SCRIPT.format(module=VECTOR_MODULE, java=shlex.quote(str(java.executable)))
    target = home / "bin" / "java"
    if not target.is_file() or target.read_text(encoding="utf-8") != script:
        write_executable(target, script)
    return home


def write_executable(target: Path, text: str) -> None:
    """Another process may be starting Java at this moment: it finds the old file or the new one, never half of one."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", dir=target.parent, prefix=".java-", delete=False
    ) as unfinished:
        unfinished.write(text)
    path = Path(unfinished.name)
    path.chmod(0o755)
    path.replace(target)
