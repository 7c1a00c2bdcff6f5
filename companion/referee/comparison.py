"""The board as it lies, against the game: what has arrived, what is lost, what may be there."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from companion.readings import EMPTY, SOME_PIECE, contents_of
from companion.referee.explanation import Arrival

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from companion.readings import Contents, SettledSquare, Snapshot
    from companion.rules import Content, Game, Piece, Square

_FEW_PIECES = 2
"""So few pieces may be lifted together without clearing the board."""


@dataclass(slots=True)
class Comparison:
    """One snapshot as the game sees it."""

    time: float
    arrivals: list[Arrival] = field(default_factory=list)
    """Pieces where the game has none."""
    maybes: list[Arrival] = field(default_factory=list)
    """Squares that may hold a piece, or be empty as the game has it."""
    lost: dict[Square, SettledSquare] = field(default_factory=dict)
    """Squares of the game whose piece is not there, and what is."""
    kept: dict[Square, SettledSquare] = field(default_factory=dict)
    """Squares of the game whose piece is there, as far as can be seen, and what is seen."""
    bare: dict[Square, SettledSquare] = field(default_factory=dict)
    """Squares that are surely empty, and since when."""
    held_back: set[Square] = field(default_factory=set)
    """Squares that did not fit the game when they were last at rest, and are out of sight or changing now; and those
    with something new that is not settled: it may lie there already, and have come before what lies elsewhere."""
    unseen: list[Arrival] = field(default_factory=list)
    """Squares without a piece of the game that have been out of sight since `Arrival.since`: anything may lie there."""
    restless: bool = False
    """A square in the open has not come to rest."""
    empty: bool = False
    """The whole board is in view and surely empty."""

    @property
    def strange(self) -> tuple[Square, ...]:
        """Every square that does not fit the game."""
        return tuple(sorted({arrival.square for arrival in self.arrivals} | set(self.lost)))

    @property
    def replaced(self) -> list[Arrival]:
        """The other pieces that lie where pieces of the game were."""
        return [
            Arrival(square, seen.contents, seen.since, seen.after)
            for square, seen in self.lost.items()
            if not seen.contents & EMPTY
        ]

    @property
    def is_left_of_game(self) -> bool:
        """Whether what lies there is left of the game, and nothing else."""
        return bool(self.kept) and not self.arrivals and not self.replaced

    def is_swept(self, game: Game) -> bool:
        """Whether all pieces of the game have left, though others may lie there now."""
        pieces = sum(map(bool, game.contents))
        left = sum(seen.contents == EMPTY for seen in self.lost.values())
        return pieces > _FEW_PIECES and (self.empty or left == pieces)

    def lifted(self, game: Game) -> list[Piece]:
        """The pieces of the game that are not where they were played."""
        return [piece for square in self.lost if (piece := game.content(square)) is not None]

    def may_be_moved_piece(self, game: Game) -> bool:
        """Whether an arrival may be a piece of the game that was shifted from its square."""
        missing = contents_of(self.lifted(game))
        return any(arrival.contents & missing for arrival in self.arrivals)


def compare(
    game: Game,
    snapshot: Snapshot,
    said: Sayings,
    *,
    known: AbstractSet[Square] = frozenset(),
) -> Comparison:
    """Hold `snapshot` against `game`.

    Args:
        said: what people said about squares; their word counts.
        known: squares that are known to differ; they go on to differ until they are seen to fit again, also while
            something covers them.
    """
    found = Comparison(snapshot.time)
    for i, (square, seen) in enumerate(zip(game.layout, snapshot.squares, strict=True)):
        settled = replace(seen, contents=said.heeded(square, seen.contents))
        at_rest = not snapshot.unsettled >> i & 1
        _compare_square(found, square, game.content(square), settled, counts=at_rest or square in known)
        if snapshot.held >> i & 1:
            found.held_back.add(square)
    found.restless = bool(snapshot.restless & ~snapshot.hidden)
    found.empty = not snapshot.unsettled and len(found.bare) == len(game.layout)
    return found


def _compare_square(found: Comparison, square: Square, expected: Content, seen: SettledSquare, *, counts: bool) -> None:
    if seen.contents == EMPTY:
        found.bare[square] = seen
    arrival = Arrival(square, seen.contents & SOME_PIECE, seen.since, seen.after)
    if seen.contents & contents_of([expected]):
        if expected is not None:
            found.kept[square] = seen
        elif arrival.contents and counts:
            found.maybes.append(arrival)
    elif not counts:
        found.held_back.add(square)
    elif expected is not None:
        found.lost[square] = seen
    else:
        found.arrivals.append(arrival)


class Sayings:
    """What people have said that squares hold; each counts until something else is seen there."""

    def __init__(self) -> None:
        self._said: dict[Square, tuple[Content, Contents]] = {}

    @property
    def squares(self) -> frozenset[Square]:
        """The squares about which a person's word counts."""
        return frozenset(self._said)

    def say(self, square: Square, content: Content, seen: Contents) -> None:
        """Note that `square` holds `content`, said when `seen` was read there."""
        self._said[square] = (content, seen)

    def heeded(self, square: Square, contents: Contents) -> Contents:
        """What `square` holds by what is read there and by what was said."""
        if square not in self._said:
            return contents
        content, seen_then = self._said[square]
        word = contents_of([content])
        otherwise = not contents & seen_then or (contents == EMPTY and content is not None)
        if otherwise or (word & seen_then and not word & contents):
            del self._said[square]
            return contents
        return word
