"""A registry: everything of one kind by its name, found when it is first looked at."""

from collections.abc import ItemsView, Iterator, Mapping, ValuesView
from threading import RLock
from typing import TypeVar

from client.extensions import modules

T = TypeVar("T")


class Registry(Mapping[str, T]):
    """What the modules of a package register, and those of extensions (`client.extensions`), sorted by name.

    A module registers by calling `add` while it is imported. Reading raises ExtensionError where an extension fails.
    """

    def __init__(self, kind: str, package: str) -> None:
        """`kind` is one of `client.extensions.KINDS`, `package` the one whose modules register."""
        self.kind = kind
        self.package = package
        self._things: dict[str, T] = {}
        self._filled = False
        self._filling = RLock()

    def add(self, name: str, thing: T) -> T:
        """Register under a name. Raises ValueError where the name is taken."""
        if name in self._things:
            raise ValueError(f"two {self.kind} are called {name}")
        self._things[name] = thing
        return thing

    def __getitem__(self, name: str) -> T:
        # Each run looks names up by the dozen.
        return self._things[name] if self._filled else self._all()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    # As quick as those of a dict: every run asks.

    def __contains__(self, name: object) -> bool:
        return name in self._all()

    def values(self) -> ValuesView[T]:
        return self._all().values()

    def items(self) -> ItemsView[str, T]:
        return self._all().items()

    def _all(self) -> dict[str, T]:
        if not self._filled:
            with self._filling:
                for _ in modules(self.package, self.kind):
                    pass
                self._things = dict(sorted(self._things.items()))
                self._filled = True
        return self._things
