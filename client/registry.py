"""A registry: everything of one kind by its name, found when it is first looked at."""

from collections.abc import ItemsView, Iterator, KeysView, ValuesView
from threading import RLock
from typing import Any, TypeVar

from client.extensions import modules

T = TypeVar("T")


class Registry(dict[str, T]):
    """What the modules of a package register, and those of extensions (`client.extensions`), sorted by name.

    A module registers by calling `add` while it is imported. Reading raises ExtensionError where an extension fails.
    A dict, since every run looks names up by the dozen: one that is there is found without a call of Python's.
    """

    def __init__(self, kind: str, package: str) -> None:
        """`kind` is one of `client.extensions.KINDS`, `package` the one whose modules register."""
        super().__init__()
        self.kind = kind
        self.package = package
        self._filled = False
        self._filling = RLock()

    def add(self, name: str, thing: T) -> T:
        """Register under a name. Raises ValueError where the name is taken."""
        if super().__contains__(name):
            raise ValueError(f"two {self.kind} are called {name}")
        self[name] = thing
        return thing

    def __missing__(self, name: str) -> T:
        if not self._filled:
            self._fill()
            if super().__contains__(name):
                return self[name]
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        if not self._filled:
            self._fill()
        return super().__contains__(name)

    def __iter__(self) -> Iterator[str]:
        self._fill()
        return super().__iter__()

    def __len__(self) -> int:
        self._fill()
        return super().__len__()

    def get(self, name: str, default: Any = None) -> T | Any:
        if not self._filled:
            self._fill()
        return super().get(name, default)

    def keys(self) -> KeysView[str]:  # type: ignore[override]
        self._fill()
        return super().keys()

    def values(self) -> ValuesView[T]:  # type: ignore[override]
        self._fill()
        return super().values()

    def items(self) -> ItemsView[str, T]:  # type: ignore[override]
        self._fill()
        return super().items()

    def _fill(self) -> None:
        if self._filled:
            return
        with self._filling:
            for _ in modules(self.package, self.kind):
                pass
            found = sorted(super().items())
            super().clear()
            super().update(found)
            self._filled = True
