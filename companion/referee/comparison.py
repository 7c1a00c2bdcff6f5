"""The board as it lies, against the game: what has arrived, what is lost, what may be there."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from companion.readings import ANYTHING, EMPTY, SOME_PIECE, contents_of, of_colour
from companion.referee.explanation import Arrival, legal_moves
from companion.rules import Piece

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from collections.abc import Set as AbstractSet
    from typing import Self

    from companion.readings import Contents, SettledSquare, Snapshot
    from companion.rules import Colour, Content, Game, Kind, Square


_NEXT_CARD_S = 1.0
"""Nobody lays the card of the next cube sooner than this after the opponent's cube."""


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

    def clear(self) -> None:
        """Forget everything."""
        self._said.clear()


class CardPiles:
    """What the card on each pile was before, which tells when a card has been laid (Green Box).

    A cube's kind is on its owner's card, and its owner may lay the card before the cube or after it. So a pile tells
    the kind of a cube only when what lies on top now can be none of what may have lain there when the owner's last cube
    was committed. The same card twice tells nothing; nor does a pile that is not read surely enough.
    """

    def __init__(self) -> None:
        self._before: dict[Colour, frozenset[Kind]] = {}
        self._ever: dict[Colour, frozenset[Kind]] = {}
        """Every card that was played."""
        self._told: dict[Square, Contents] = {}
        """What the piles have told of the cubes that are not committed yet."""
        self._last: dict[Colour, Kind] = {}
        """The card that each player's last cube was committed as, until a cube is taken back."""

    @classmethod
    def of(cls, played: Iterable[Piece]) -> Self:
        """The piles after these cubes, none of whose cards was seen."""
        piles = cls()
        for piece in played:
            piles.played(piece, {})
        return piles

    def follow(self, others: CardPiles) -> None:
        """Another match begins where those piles lay, or lie still, in whatever order their cards were picked up."""
        for colour, kinds in others._ever.items():
            self._before[colour] = self._before.get(colour, frozenset()) | kinds

    def begin(self, cards: Mapping[Colour, frozenset[Kind]]) -> None:
        """A match begins: the cards that lie there now belong to no cube of it."""
        for colour, kinds in cards.items():
            self._before[colour] = self._before.get(colour, frozenset()) | kinds

    def see(self, cards: Mapping[Colour, frozenset[Kind]]) -> None:
        """Note that the card of a cube which was committed without it has been laid, once it is seen."""
        for colour, kind in self._last.items():
            if cards.get(colour) == frozenset({kind}):
                self._before[colour] = frozenset({kind})

    def played(self, piece: Piece, cards: Mapping[Colour, frozenset[Kind]]) -> None:
        """A cube was committed as `piece` while the piles were seen so.

        Its card lies there, or one that lay there before, for its own may still be on the way: more is not learnt from
        a pile that may show its kind among others. One that cannot show it may show what is still to come.
        """
        colour, shown = piece.colour, cards.get(piece.colour, frozenset())
        lies = frozenset({piece.kind})
        if shown != lies:
            lies |= self._before.get(colour, frozenset())
        if piece.kind not in shown:
            lies |= shown
        self._before[colour], self._last[colour] = lies, piece.kind
        self._ever[colour] = self._ever.get(colour, frozenset()) | lies

    def taken_back(self, piece: Piece, left: Iterable[Piece]) -> None:
        """A cube was taken back, and others of its owner are left: its card may be gone, and an older one be on top."""
        older = {other.kind for other in left if other.colour is piece.colour}
        self._before[piece.colour] = self._before.get(piece.colour, frozenset()) | older | {piece.kind}
        self._last.pop(piece.colour, None)

    def narrow(
        self, game: Game, arrivals: Sequence[Arrival], cards: Mapping[Colour, frozenset[Kind]], time: float
    ) -> list[Arrival]:
        """The arrivals in `game` at `time` (source seconds), with the kinds that the piles leave.

        A pile tells the one cube of its owner that waits for a card. When the opponent has played on, or has to pass, a
        card that is laid then belongs to the owner's next cube; what was told before still counts.
        """
        self._told = {arrival.square: self._told.get(arrival.square, ANYTHING) for arrival in arrivals}
        for colour, kinds in cards.items():
            waiting = [arrival for arrival in arrivals if arrival.contents & of_colour(colour)]
            laid = kinds.isdisjoint(self._before.get(colour, frozenset()))
            if laid and len(waiting) == 1 and not any(_played_on(waiting[0], other, time) for other in arrivals):
                told = self._told[waiting[0].square] & ~of_colour(colour)
                told |= contents_of(Piece(colour, kind) for kind in kinds)
                self._told[waiting[0].square] = told | self._before_a_pass(game, waiting[0], colour)
        return [
            replace(arrival, contents=arrival.contents & self._told[arrival.square] or arrival.contents)
            for arrival in arrivals
        ]

    def _before_a_pass(self, game: Game, arrival: Arrival, colour: Colour) -> Contents:
        """The same card again as what the opponent has to pass after: the card of the owner's next cube may hide it."""
        again = contents_of(Piece(colour, kind) for kind in self._before.get(colour, ()))
        moves = legal_moves(game, replace(arrival, contents=arrival.contents & again))
        return contents_of(move.piece for move in moves if game.play(move).to_move is colour)


def _played_on(arrival: Arrival, other: Arrival, time: float) -> bool:
    """Whether the other cube came later, and its opponent may have laid the card of yet another since."""
    return other.since > arrival.since and time - other.since > _NEXT_CARD_S
