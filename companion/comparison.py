"""The board as it lies, against the game: what has arrived, what is lost, what may be there."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from companion.explanation import Arrival
from companion.readings import ANYTHING, EMPTY, SOME_PIECE, contents_of, of_colour
from companion.rules import Piece

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from collections.abc import Set as AbstractSet

    from companion.readings import Contents, SettledSquare, Snapshot
    from companion.rules import Colour, Content, Game, Kind, Square


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
    bare: set[Square] = field(default_factory=set)
    """Squares that are surely empty."""
    held_back: set[Square] = field(default_factory=set)
    """Squares that did not fit the game when they were last at rest, and are out of sight or changing now."""
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

    def may_be_moved_piece(self, game: Game) -> bool:
        """Whether an arrival may be a piece of the game that was shifted from its square."""
        missing = contents_of(game.content(square) for square in self.lost)
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
    found.restless = bool(snapshot.restless & ~snapshot.hidden)
    found.empty = not snapshot.unsettled and len(found.bare) == len(game.layout)
    return found


def _compare_square(found: Comparison, square: Square, expected: Content, seen: SettledSquare, *, counts: bool) -> None:
    if seen.contents == EMPTY:
        found.bare.add(square)
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

    def say(self, square: Square, content: Content, seen: Contents) -> None:
        """Note that `square` holds `content`, said when `seen` was read there."""
        self._said[square] = (content, seen)

    def heeded(self, square: Square, contents: Contents) -> Contents:
        """What `square` holds by what is read there and by what was said."""
        if square not in self._said:
            return contents
        content, seen_then = self._said[square]
        if not contents & seen_then or (contents == EMPTY and content is not None):
            del self._said[square]
            return contents
        return contents_of([content])

    def clear(self) -> None:
        """Forget everything."""
        self._said.clear()


class CardPiles:
    """Which card each player's last cube was played with (Green Box).

    A cube's kind is on its owner's card: a pile that has changed since the owner's last cube tells it.
    """

    def __init__(self) -> None:
        self._played: dict[Colour, frozenset[Kind]] = {}

    def played(self, cards: Mapping[Colour, frozenset[Kind]]) -> None:
        """Note the piles as they lay when a cube was committed."""
        self._played.update(cards)

    def narrow(self, arrivals: Iterable[Arrival], cards: Mapping[Colour, frozenset[Kind]]) -> list[Arrival]:
        """The arrivals, with the kinds that the piles leave."""
        allowed = ANYTHING
        for colour, kinds in cards.items():
            if kinds != self._played.get(colour):
                allowed &= ~of_colour(colour) | contents_of(Piece(colour, kind) for kind in kinds)
        return [replace(arrival, contents=arrival.contents & allowed or arrival.contents) for arrival in arrivals]
