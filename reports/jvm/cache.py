"""Where prepared things live between reports: the user's cache, never the project or the system."""

import os
from collections.abc import Mapping
from pathlib import Path


def cache_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """$XDG_CACHE_HOME/faultlab/jvm, else ~/.cache/faultlab/jvm. A relative XDG_CACHE_HOME is ignored, as its
    specification asks."""
    base = Path(environ.get("XDG_CACHE_HOME") or "")
    if not base.is_absolute():
        base = Path(environ.get("HOME") or Path.home()) / ".cache"
    return base / "faultlab" / "jvm"
