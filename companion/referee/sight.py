"""Which squares are out of sight, and since when: what is played there is not seen before they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from companion.readings import ANYTHING
from companion.referee.explanation import Arrival

if TYPE_CHECKING:
    from collections.abc import Iterable

    from companion.rules import Square


class Sight:
    """The squares that are covered, or have changed, and have not come to rest since."""

    def __init__(self) -> None:
        self._lost: dict[Square, float] = {}
        """Since when each of them was not seen at rest."""
        self.called_empty: frozenset[Square] = frozenset()
        """Those on which nothing lies, as a person has said since."""

    def look(self, time: float, restless: Iterable[Square]) -> None:
        """Note which squares are not at rest at this time."""
        self._lost = {square: self._lost.get(square, time) for square in restless}
        self.called_empty &= self._lost.keys()

    def lost_by(self, time: float) -> frozenset[Square]:
        """Those that were so at this time, and ever since."""
        return frozenset(square for square, since in self._lost.items() if since <= time)

    def was_empty_at(self, square: Square, time: float) -> None:
        """Nothing lay on a square at this time, as a person says; where it is out of sight, it may from now on."""
        if square in self._lost:
            self._lost[square] = time
            self.called_empty |= {square}

    def anything_on(self, squares: Iterable[Square]) -> list[Arrival]:
        """What may have come to lie on those of these squares that are out of sight, in their order."""
        return [Arrival(square, ANYTHING, self._lost[square], self._lost[square]) for square in sorted(squares)
                if square in self._lost]  # fmt: skip
