"""Where built programs are kept: $XDG_CACHE_HOME/faultlab, or ~/.cache/faultlab."""

import os
from pathlib import Path


def cache() -> Path:
    """The folder, whether or not it exists. A relative XDG_CACHE_HOME is ignored, as its specification asks."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if base.startswith("/") else Path.home() / ".cache") / "faultlab"
