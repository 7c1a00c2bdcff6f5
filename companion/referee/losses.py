"""The pieces of the game that are not where they were played, or were not for a while."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from companion.readings import ANYTHING, EMPTY, contents_of, of_colour, only
from companion.referee.explanation import Arrival
from companion.rules import Colour

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from collections.abc import Set as AbstractSet

    from companion.readings import Contents
    from companion.referee.comparison import Comparison
    from companion.rules import Game, Square

_QUICKEST_S = 0.25
"""Nobody exchanges a piece for another in less, in source seconds."""


class Losses:
    """What is known of the pieces of one game that were disturbed, and of those that have to leave."""

    def __init__(self) -> None:
        self.disturbed: set[Square] = set()
        """The squares whose piece is not there now; people were told."""
        self._to_leave: dict[Square, Contents] = {}
        """What lies on the squares of `to_leave`; anything there may, where nothing else is known of it."""
        self._looks: dict[Square, Contents] = {}
        """As what the pieces of the game were seen before they were disturbed."""
        self._bared: set[Square] = set()
        """The squares that were bare since their piece was last seen there without doubt."""
        self._colour_open: set[Square] = set()
        """The squares whose piece, by all that was seen of it since it was played, may have either colour."""
        self._since: dict[Square, float] = {}
        """When the pieces of the game were first seen as what they are, since their squares were bare."""
        self._looked_s = float("inf")
        """When the board was last looked at."""
        self._lost: set[Square] = set()
        """The squares whose piece was not there then."""

    @property
    def to_leave(self) -> AbstractSet[Square]:
        """Squares whose piece counts no more, and has to leave before the game goes on."""
        return self._to_leave.keys()

    def dismiss(self, squares: Iterable[Square], what: Contents = ANYTHING) -> None:
        """What lies on these squares, which may be `what`, counts no more."""
        self._to_leave |= {square: what | self._to_leave.get(square, 0) for square in squares}

    def may_be_another(self, board: Comparison) -> Arrival | None:
        """The first piece that looks otherwise than the one which has to leave its square; it may be either."""
        other = next(self._others(board), None)
        return other and replace(other, contents=other.contents | self._to_leave[other.square])

    def _others(self, board: Comparison) -> Iterator[Arrival]:
        """The pieces that look otherwise than those which have to leave their squares."""
        return (new for new in board.arrivals if not new.contents & self._to_leave.get(new.square, ANYTHING))

    def look(self, board: Comparison, game: Game, said: AbstractSet[Square]) -> None:
        """Learn from the board which pieces have left, and which were taken from the game.

        Another piece than the one that has to leave lies there where a person has `said` so.
        """
        others = {other.square for other in self._others(board)}
        gone = board.bare.keys() | board.kept.keys() | others & said
        self._to_leave = {square: what for square, what in self._to_leave.items() if square not in gone}
        sure = {square for square, seen in board.kept.items() if only(seen.contents)}
        unwatched = board.time - self._looked_s >= _QUICKEST_S
        may_have_been_bare = board.lost.keys() - self._lost if unwatched else set()
        self._looked_s, self._lost = board.time, set(board.lost)
        self._bared = (self._bared | board.bare.keys() | may_have_been_bare) - sure
        known = {square: since for square, since in self._since.items() if game.content(square) is not None}
        self._since = {square: board.kept[square].since for square in sure} | known
        for square in self._bared:
            self._since.pop(square, None)
        self.disturbed -= {square for square in self.disturbed if game.content(square) is None}
        self._looks = {square: looks for square, looks in self._looks.items() if game.content(square) is not None}
        told_apart = {square for square, seen in board.kept.items() if not _may_have_either_colour(seen.contents)}
        self._colour_open -= told_apart | board.bare.keys()

    def played(self, square: Square, seen: Contents) -> None:
        """A piece was played there by what was `seen`."""
        if _may_have_either_colour(seen):
            self._colour_open.add(square)

    def of_the_other_colour(self, board: Comparison) -> set[Square]:
        """The squares whose piece turns out to have the other colour than the turn has told, now that it shows."""
        lost = self._colour_open & board.lost.keys()
        return {square for square in lost if not _may_have_either_colour(board.lost[square].contents)}

    def newly_disturbed(self, board: Comparison) -> tuple[Square, ...]:
        """The squares whose piece is not there and of which nobody was told yet."""
        new = tuple(sorted(set(board.lost) - self.disturbed))
        self.disturbed |= set(new)
        return new

    def restored(self, board: Comparison, game: Game) -> tuple[Square, ...]:
        """The squares whose piece is back, but for the last one there where it may be another."""
        swapped = self.may_be_swapped(board, game)
        back = tuple(sorted(self.disturbed & board.kept.keys() - ({swapped.square} if swapped else set())))
        self.disturbed -= set(back)
        self._looks |= {square: seen.contents for square, seen in board.kept.items() if square not in self.disturbed}
        return back

    def may_be_misread(self, board: Comparison, game: Game, said: AbstractSet[Square]) -> Arrival | None:
        """The last piece, where another is seen in its place that nobody could have exchanged it for.

        By a camera that is so if it came too soon; by a board of tiles, which is never out of sight, if the square was
        never bare, but for a piece that has just come and may still come to rest. Not where a person has `said` what
        lies there.
        """
        last = game.last_square
        seen = None if last is None or last in said else board.lost.get(last)
        if (
            last is None
            or seen is None
            or seen.contents & EMPTY
            or last in self._bared | self.of_the_other_colour(board)
        ):
            return None
        last_there = seen.after + seen.late_s
        if seen.late_s and 0 <= last_there - self._since.get(last, last_there) < seen.late_s:
            return None
        if not seen.late_s and seen.since - last_there >= _QUICKEST_S:
            return None
        return Arrival(last, seen.contents | contents_of([game.content(last)]), seen.since, seen.after)

    def may_be_swapped(self, board: Comparison, game: Game) -> Arrival | None:
        """The last piece, lifted and put back as what may be the same, or another that was never seen there.

        Where the last ones are gone it is the one before them.
        """
        last = next((move.square for move in reversed(game.moves) if move.square not in board.lost), None)
        if last is None or last not in self.disturbed or last not in board.kept:
            return None
        seen = board.kept[last]
        if only(seen.contents) or not seen.contents & ~self._looks.get(last, ANYTHING):
            return None
        return Arrival(last, seen.contents, seen.since, seen.after)


def _may_have_either_colour(contents: Contents) -> bool:
    return all(contents & of_colour(colour) for colour in Colour)
