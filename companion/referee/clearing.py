"""The clearing up after a match, and the match that begins after it.

The next match begins with its first piece on the cleared board, which is judged as any other: at once if it is a legal
one beyond doubt, else when it has lain still. Where the board was never seen bare, and the match was played to its
end, the next one begins with legal moves that lie still when the pieces of the match have all left; if one or two never
left, it is asked which match they are of, and then the same of those that were put back. Where anything else has come
to lie there for long, the board has to be bare first, and what lies there stands in the way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from companion.referee.comparison import Sayings, compare
from companion.referee.explanation import explain

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from companion.readings import Snapshot
    from companion.referee.comparison import Comparison
    from companion.referee.explanation import Arrival
    from companion.rules import Game, Square

_FEW_PIECES = 2
"""So few pieces may be left of a match, or be the first of the next."""
_STUBBORN_S = 10.0
"""Pieces that lie so long beside one that never left, in source seconds, are not about to be cleared up with it."""


class Clearing:
    """What has left the board since a match was over, and what lies there that is of the next one."""

    def __init__(self, following: Game, *, still_s: float, by_card: bool) -> None:
        """Before the game `following`; with `by_card` its kinds are on cards.

        What lies still for `still_s`, in source seconds, is not about to be cleared up.
        """
        self.following = following
        self.done = False
        """The board has been bare."""
        self.in_the_way: AbstractSet[Square] = frozenset()
        """All squares on which something lies, where it keeps what was laid there long since from being followed."""
        self._still_s = still_s
        self._by_card = by_card
        self._began_s: float | None = None
        """When the match was over."""
        self._bared: set[Square] = set()
        """The squares that were seen bare since."""
        self._left: set[Square] = set()
        """The squares that each piece of the match has left, for a while at least."""

    def look(self, board: Comparison) -> None:
        """The match is over, and the board lies so now."""
        self.done = self.done or board.empty
        self._left |= board.lost.keys()
        self._bared |= board.bare.keys()
        self._began_s = board.time if self._began_s is None else self._began_s
        self.in_the_way = self._keeping_from_new(board, self._began_s)

    def _keeping_from_new(self, board: Comparison, began_s: float) -> AbstractSet[Square]:
        laid = [*board.arrivals, *(other for other in board.replaced if other.square in self._bared)]
        new = [arrival for arrival in laid if arrival.since >= began_s]
        if self.done or not new or _lain_s(board, new) < _STUBBORN_S:
            return frozenset()
        return board.kept.keys() | {arrival.square for arrival in (*board.arrivals, *board.replaced)}

    def call_off(self) -> None:
        """The match goes on: what has left the board was no clearing up."""
        self.done, self._left, self._bared = False, set(), set()
        self._began_s, self.in_the_way = None, frozenset()

    def lying(self, snapshot: Snapshot) -> Sequence[Arrival]:
        """What lies there, if it is of the next match."""
        return compare(self.following, snapshot, Sayings()).arrivals

    def may_have_begun(self, board: Comparison) -> bool:
        """Whether the few pieces that lie there at the first look may be the first moves of the next match."""
        return len(board.kept) <= _FEW_PIECES and explain(self.following, self.lying(board.snapshot)).complete

    def begun(
        self, board: Comparison, ended: Game, *, resigned: bool, left_over: AbstractSet[Square]
    ) -> tuple[Square, ...] | None:
        """The squares to ask about first if the next match has begun, as their piece may be of the one that `ended`.

        None if it has not begun. Of some a person has said that they are `left_over`.
        """
        lying = self.lying(board.snapshot)
        if self.done:
            return () if lying and (self._are_moves(lying) or _lain_s(board, lying) >= self._still_s) else None
        stubborn = {square for square in ended.layout if ended.content(square) is not None} - self._left
        if resigned or len(stubborn) > _FEW_PIECES:
            return None
        new = [arrival for arrival in lying if arrival.square not in stubborn | left_over]
        waits_s = self._still_s if stubborn <= left_over else _STUBBORN_S
        if not new or not self._are_moves(new) or _lain_s(board, new) < waits_s:
            return None
        put_back = {arrival.square for arrival in lying if arrival.square in board.kept}
        return tuple(sorted(stubborn - left_over or put_back - left_over))

    def _are_moves(self, lying: Sequence[Arrival]) -> bool:
        """Whether the next match begins with these pieces, beyond doubt."""
        found = explain(self.following, lying)
        return found.unique or (self._by_card and found.complete)


def _lain_s(board: Comparison, lying: Sequence[Arrival]) -> float:
    return board.time - min(arrival.since for arrival in lying)
