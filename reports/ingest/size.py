"""How much there is to read. Apart from what reads it, which takes longer to import than Java needs to be started."""

from enum import Enum


class Size(Enum):
    """What records are read with follows from it."""

    SMALL = "small"
    LARGE = "large"
