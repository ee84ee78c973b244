"""The lab's own figures. One module a subject; each has a `main(arguments)` that prints figures with their units.

`python -m bench` runs them all, `python -m bench NAME ...` some, `python bench/NAME.py` one with its own options.
"""

import pkgutil


def names() -> tuple[str, ...]:
    """Every benchmark, in alphabetical order: the modules of this folder, not of those below it."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(__path__) if module.name != "__main__"))
