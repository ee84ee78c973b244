"""Golden texts: what a user reads, whole, beside the test that makes it.

`FAULTLAB_GOLDEN=write` writes them anew; read the difference before you commit it.
"""

import os
import re
from collections.abc import Sequence
from difflib import unified_diff
from pathlib import Path

Changing = tuple[re.Pattern[str], str]
"""What differs from run to run, and what stands in its place."""


def hold_to_golden(file: Path, said: str, changing: Sequence[Changing] = ()) -> None:
    """Fails with the difference."""
    for pattern, kept in changing:
        said = pattern.sub(kept, said)
    if os.environ.get("FAULTLAB_GOLDEN") == "write":
        file.parent.mkdir(exist_ok=True)
        file.write_text(said)
    golden = file.read_text() if file.exists() else ""
    difference = "\n".join(unified_diff(golden.splitlines(), said.splitlines(), "golden", "said", lineterm=""))
    assert not difference, f"FAULTLAB_GOLDEN=write takes it over:\n{difference}"
