"""Settings as they are given on a command line: `--set Net.ReadTimeout=3s`."""

from collections.abc import Sequence

from cli.errors import CommandError


def given(words: Sequence[str]) -> dict[str, str]:
    """`Net.ReadTimeout=3s` each. Raises Stop."""
    found: dict[str, str] = {}
    for word in words:
        name, equals, text = (part.strip() for part in word.partition("="))
        if not equals or not name or not text:
            raise CommandError(f"--set {word} sets nothing", "write --set Net.ReadTimeout=3s")
        if name in found:
            raise CommandError(f"--set {name} is given twice", "keep one of them")
        found[name] = text
    return found
