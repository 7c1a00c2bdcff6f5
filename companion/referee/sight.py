"""What is seen of the board, which squares are out of sight, and since when.

What is played out of sight is not seen before the squares are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from companion.readings import ANYTHING
from companion.referee.explanation import Arrival

if TYPE_CHECKING:
    from collections.abc import Iterable
    from collections.abc import Set as AbstractSet

    from companion.readings import Contents, Snapshot
    from companion.referee.patience import Patience
    from companion.rules import Layout, Square

_NEVER = float("inf")


class Sight:
    """All that is known of one board by looking at it; nothing as long as nobody has looked."""

    def __init__(self, layout: Layout, patience: Patience) -> None:
        self.snapshot: Snapshot | None = None
        """The last look."""
        self.started_s = _NEVER
        """When something was known of every square for the first time, and the game compared with them."""
        self.called_empty: frozenset[Square] = frozenset()
        """The squares out of sight on which nothing lies, as a person has said since."""
        self._layout = layout
        self._patience = patience
        self._time = -_NEVER
        self._began_s = _NEVER
        """When the board was first seen, or some of it."""
        self._hand_since: float | None = None
        """Since when some of it has been covered."""
        self._lost: dict[Square, float] = {}
        """The squares that are covered, or have changed, and have not come to rest since; and since when."""

    def look(self, snapshot: Snapshot) -> None:
        """See the board as it lies now."""
        self.snapshot, self._time = snapshot, snapshot.time
        since = self._time if self._hand_since is None else self._hand_since
        self._hand_since = since if snapshot.hidden else None
        if self._began_s == _NEVER and snapshot.hidden != self._layout.all:
            self._began_s = self._time
        restless = self._layout.squares_in(snapshot.restless)
        self._lost = {square: self._lost.get(square, self._time) for square in restless}
        self.called_empty &= self._lost.keys()

    def start(self) -> None:
        """Something is known of every square, and the game is compared with them from now on."""
        if not self.started:
            self.started_s = self._time

    @property
    def started(self) -> bool:
        """Whether the whole board has been seen once."""
        return self.started_s < _NEVER

    @property
    def hidden(self) -> frozenset[Square]:
        """The squares that something covers."""
        return self._layout.squares_in(self.snapshot.hidden if self.snapshot else 0)

    @property
    def hand_in_the_way(self) -> bool:
        """Whether something covers the board that will be gone soon."""
        return self._hand_since is not None and self._time - self._hand_since < self._patience.hand_s

    @property
    def stirred(self) -> frozenset[Square]:
        """The squares on which something may have come to lie just now: those not at rest, but under what stays."""
        hidden = frozenset() if self.hand_in_the_way else self.hidden
        return frozenset(self._lost) - hidden

    def contents(self, square: Square) -> Contents:
        """What a square may hold, as it was last seen at rest."""
        return self.snapshot.squares[self._layout.index(square)].contents if self.snapshot else ANYTHING

    def unknown(self, said: AbstractSet[Square]) -> frozenset[Square]:
        """The squares of which nothing is known since the program looks, neither seen nor `said`."""
        if self.started or self.snapshot is None:
            return frozenset()
        seen = zip(self._layout, self.snapshot.squares, strict=True)
        return frozenset(square for square, settled in seen if settled.contents == ANYTHING) - said

    def unseen(self, said: AbstractSet[Square]) -> frozenset[Square]:
        """Those of them that are covered, if they stay so."""
        return frozenset() if self.hand_in_the_way else self.unknown(said) & self.hidden

    def unread(self, said: AbstractSet[Square]) -> frozenset[Square]:
        """Those of them that lie in the open, if they stay so."""
        may_show = self._time - self._began_s < self._patience.blind_s
        return frozenset() if may_show else self.unknown(said) - self.hidden

    @property
    def long_lost(self) -> frozenset[Square]:
        """The squares that have not been at rest for long; none before the whole board was seen once."""
        if not self.started:
            return frozenset()
        long_ago = self._time - self._patience.covered_s
        return frozenset(square for square, since in self._lost.items() if since <= long_ago)

    def was_empty_at(self, square: Square, time: float) -> None:
        """Nothing lay on a square at this time, as a person says; where it is out of sight, it may from now on."""
        if square in self._lost:
            self._lost[square] = time
            self.called_empty |= {square}

    def anything_on(self, squares: Iterable[Square]) -> list[Arrival]:
        """What may have come to lie on those of these squares that are out of sight, in their order."""
        return [Arrival(square, ANYTHING, self._lost[square], self._lost[square]) for square in sorted(squares)
                if square in self._lost]  # fmt: skip
