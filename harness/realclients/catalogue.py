"""Which real clients there are, and where each one's program is kept: under a key that changes with its sources."""

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from harness.building import cache

SOURCES = Path(__file__).parents[2] / "realclients"
_RECIPE = 1
"""Of the build's own flags: another number makes every program anew."""
_KEY_DIGITS = 12


class RealClientMissing(Exception):
    """There is no such real client, or it is not built: `reason` says which, `remedy` the command that helps."""

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(f"{reason}; {remedy}")
        self.reason = reason
        self.remedy = remedy


class UnknownRealClient(RealClientMissing):
    """There are no sources for it: nothing that this machine could do makes it one."""


@dataclass(frozen=True, slots=True)
class RealClient:
    """One release of one library."""

    name: str
    version: str

    def __str__(self) -> str:
        return f"{self.name}@{self.version}"

    @property
    def folder(self) -> Path:
        return SOURCES / self.name

    @property
    def modules(self) -> Path:
        """The release's module file; the sums of what it requires are beside it."""
        return self.folder / "releases" / f"{self.version}.mod"

    @property
    def program(self) -> Path:
        """Where its program is, or will be."""
        return cache() / "clients" / f"{self.name}-{self.version}-{self._key()}"

    @property
    def built(self) -> bool:
        return os.access(self.program, os.X_OK)

    def found(self) -> Path:
        """Its program. Raises RealClientMissing."""
        program = self.program
        if not os.access(program, os.X_OK):
            raise RealClientMissing(f"the real {self} is not built", f"faultlab clients build {self}")
        return program

    def _key(self) -> str:
        whole = hashlib.sha256(f"recipe {_RECIPE}".encode())
        for path in self._sources():
            whole.update(f"\n{path.relative_to(SOURCES)}\n".encode() + path.read_bytes())
        return whole.hexdigest()[:_KEY_DIGITS]

    def _sources(self) -> Iterator[Path]:
        yield from sorted((SOURCES / "subject").glob("*.go"))
        yield from sorted(self.folder.glob("*.go"))
        yield from (SOURCES / "subject" / "go.mod", self.modules, self.modules.with_suffix(".sum"))


def real_clients() -> tuple[RealClient, ...]:
    """All that can be built, by name and release, oldest first."""
    found = [RealClient(path.parents[1].name, path.stem) for path in SOURCES.glob("*/releases/*.mod")]
    return tuple(sorted(found, key=lambda client: (client.name, [int(part) for part in client.version.split(".")])))


def real_client(name: str, version: str) -> RealClient:
    """Raises UnknownRealClient."""
    wanted = RealClient(name, version)
    known = real_clients()
    if wanted in known:
        return wanted
    raise UnknownRealClient(f"there is no real {name} {version}", f"there are {', '.join(map(str, known))}")


def select_clients(words: Sequence[str]) -> tuple[RealClient, ...]:
    """The clients meant by `sarama` or `sarama@1.27.2`, each once; no words: all. Raises UnknownRealClient."""
    known = real_clients()
    if not words:
        return known
    meant: dict[RealClient, None] = {}
    for word in words:
        these = [client for client in known if word in (client.name, str(client))]
        if not these:
            near = get_close_matches(word, [name for client in known for name in (client.name, str(client))], n=1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(map(str, known))}"
            raise UnknownRealClient(f"there is no real client {word}", hint)
        meant.update(dict.fromkeys(these))
    return tuple(meant)
