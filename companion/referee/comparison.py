"""The board as it lies, against the game: what has arrived, what is lost, what may be there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from companion.readings import EMPTY, SOME_PIECE, contents_of
from companion.referee.explanation import Arrival

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from companion.readings import Contents, SettledSquare, Snapshot
    from companion.rules import Content, Game, Piece, Square

_FEW_PIECES = 2
"""So few pieces may be lifted together without clearing the board."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One snapshot as the game sees it."""

    snapshot: Snapshot
    arrivals: Sequence[Arrival]
    """Pieces where the game has none."""
    maybes: Sequence[Arrival]
    """Squares that may hold a piece, or be empty as the game has it; also while they are out of sight or changing, if
    they were bare before."""
    lost: Mapping[Square, SettledSquare]
    """Squares of the game whose piece is not there, and what is."""
    kept: Mapping[Square, SettledSquare]
    """Squares of the game whose piece is there, as far as can be seen, and what is seen."""
    bare: Mapping[Square, SettledSquare]
    """Squares that are surely empty, and since when."""
    free: AbstractSet[Square]
    """Squares on which the game has no piece, and none was surely seen when they were last at rest."""
    held_back: AbstractSet[Square]
    """Squares that did not fit the game when they were last at rest, and are out of sight or changing now; and those
    with something new that is not settled: it may lie there already, and have come before what lies elsewhere."""
    by_word: AbstractSet[Square] = frozenset()
    """Squares of the game on which nothing is seen, and a person has said that the piece lies there."""
    unseen: Sequence[Arrival] = ()
    """Squares without a piece of the game that have been out of sight since `Arrival.since`: anything may lie there."""

    @property
    def time(self) -> float:
        """When it was so, in source seconds."""
        return self.snapshot.time

    @property
    def restless(self) -> bool:
        """Whether a square in the open has not come to rest."""
        return bool(self.snapshot.restless & ~self.snapshot.hidden)

    def more_may_come(self, rest_s: float) -> bool:
        """Whether an arrival may be half of the story: with a piece not yet seen to be gone, or another to come.

        Args:
            rest_s: so long the rest of the board may take to come to rest around a new piece.
        """
        if not self.restless or not self.arrivals:
            return False
        return self.time - max(arrival.since for arrival in self.arrivals) < rest_s

    def changed_s(self, arrivals: Sequence[Arrival]) -> float:
        """When the last of these arrivals, and of what is lost, was first seen so."""
        return max([*(new.since for new in arrivals), *(gone.since for gone in self.lost.values())])

    @property
    def empty(self) -> bool:
        """Whether the whole board is in view and surely empty."""
        return not self.snapshot.unsettled and len(self.bare) == len(self.snapshot.squares)

    @property
    def strange(self) -> tuple[Square, ...]:
        """Every square that does not fit the game."""
        return tuple(sorted({arrival.square for arrival in self.arrivals} | set(self.lost)))

    @property
    def replaced(self) -> list[Arrival]:
        """The other pieces that lie where pieces of the game were."""
        return _arrivals({square: seen for square, seen in self.lost.items() if not seen.contents & EMPTY})

    @property
    def hardly_replaced(self) -> list[Arrival]:
        """Where pieces of the game were and others may lie, or nothing."""
        lost = self.lost.items()
        return _arrivals({square: seen for square, seen in lost if seen.contents & EMPTY and seen.contents != EMPTY})

    @property
    def is_left_of_game(self) -> bool:
        """Whether what lies there is left of the game, and nothing else."""
        return bool(self.kept) and not self.arrivals and not self.replaced

    def is_swept(self, game: Game) -> bool:
        """Whether all pieces of the game have left, though others may lie there now."""
        pieces = sum(map(bool, game.contents))
        left = sum(seen.contents == EMPTY for seen in self.lost.values())
        return pieces > _FEW_PIECES and (self.empty or 0 < left == pieces - len(self.by_word))

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
    layout = game.layout
    said.look({square for square in layout.squares_in(snapshot.hidden) if game.content(square) is None})
    lies = {
        square: replace(seen, contents=said.heeded(square, seen.contents))
        for square, seen in zip(layout, snapshot.squares, strict=True)
    }
    fitting = {square for square, seen in lies.items() if seen.contents & contents_of([game.content(square)])}
    bare = {square for square, seen in lies.items() if seen.contents == EMPTY}
    pieces = {square for square in layout if game.content(square) is not None}
    counting = layout.squares_in(layout.all & ~snapshot.unsettled) | known
    changed = {square for square, seen in lies.items() if seen.after > float("-inf")}

    def on(squares: AbstractSet[Square]) -> dict[Square, SettledSquare]:
        return {square: seen for square, seen in lies.items() if square in squares}

    return Comparison(
        snapshot,
        arrivals=_arrivals(on(counting - fitting - pieces)),
        maybes=_arrivals(on((counting | changed) & fitting - pieces - bare)),
        lost=on(counting & pieces - fitting),
        kept=on(pieces & fitting),
        bare=on(bare),
        free=fitting - pieces,
        held_back=(lies.keys() - fitting - counting) | layout.squares_in(snapshot.held),
        by_word=said.unseen & pieces,
    )


def _arrivals(lying: Mapping[Square, SettledSquare]) -> list[Arrival]:
    return [Arrival(square, seen.contents & SOME_PIECE, seen.since, seen.after) for square, seen in lying.items()]


class Sayings:
    """What people have said that squares hold; each counts until something else is seen there.

    That nothing lies where something may is true of the time when it was said: when the square was in the open since,
    and is covered, something may come to lie there that looks the same.
    """

    def __init__(self) -> None:
        self._said: dict[Square, tuple[Content, Contents]] = {}
        self._open: set[Square] = set()
        """Those that were in the open since."""
        self._covered: set[Square] = set()
        """Those that were covered then."""

    @property
    def squares(self) -> frozenset[Square]:
        """The squares about which a person's word counts."""
        return frozenset(self._said)

    def say(self, square: Square, content: Content, seen: Contents) -> None:
        """Note that `square` holds `content`, said when `seen` was read there.

        A piece where nothing is seen is one that the source cannot see, as on a tile that is broken.
        """
        self._said[square] = (content, seen)
        self._open.discard(square)
        self._covered.discard(square)

    @property
    def unseen(self) -> frozenset[Square]:
        """The squares that hold a piece by a person's word alone: nothing was seen there when it was said."""
        return frozenset(square for square, (content, seen) in self._said.items() if content and seen == EMPTY)

    def forget_unseen(self, squares: AbstractSet[Square]) -> None:
        """On these a piece counts no more where nothing was seen when it was said."""
        for square in self.unseen & squares:
            del self._said[square]

    def look(self, covered: AbstractSet[Square]) -> None:
        """These of the squares on which the game has no piece are covered now, and no others."""
        self._covered |= self._open & covered
        self._open |= self._said.keys() - covered

    def heeded(self, square: Square, contents: Contents) -> Contents:
        """What `square` holds by what is read there and by what was said.

        That nothing lies there is said of what seemed to, not of another piece that may lie there since.
        """
        if square not in self._said:
            return contents
        content, seen_then = self._said[square]
        if _is_otherwise(contents, content, seen_then):
            del self._said[square]
            return contents
        if content is None and contents & EMPTY and square in self._covered:
            return contents
        return contents_of([content])


def _is_otherwise(contents: Contents, content: Content, seen_then: Contents) -> bool:
    """Whether what is seen now is not what was seen when it was said that there is this `content`."""
    word = contents_of([content])
    if word & seen_then and not word & contents:
        return True
    if content is None:
        return bool(contents & ~seen_then)
    if seen_then == EMPTY:
        return contents != EMPTY
    return contents == EMPTY or not contents & seen_then
