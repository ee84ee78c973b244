"""How many levers hold each broker in a state: the first one puts it there, the last one to end brings it back."""


class HolderCounts:
    """Counts for one kind of state."""

    def __init__(self) -> None:
        self._held: dict[int, int] = {}

    def add_holder(self, broker: int) -> bool:
        """Count one more holder; True for the first."""
        self._held[broker] = self._held.get(broker, 0) + 1
        return self._held[broker] == 1

    def remove_holder(self, broker: int) -> bool:
        """Count one holder less; True where none is left."""
        self._held[broker] -= 1
        return not self._held[broker]
