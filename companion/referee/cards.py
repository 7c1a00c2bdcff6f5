"""The cards on the piles of the Green Box: which of them belong to which cube."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from companion.readings import ANYTHING, contents_of, of_colour
from companion.referee.explanation import Arrival, legal_moves
from companion.referee.pile import Pile
from companion.rules import Colour, Kind, Piece

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from collections.abc import Set as AbstractSet
    from typing import Self

    from companion.readings import Contents
    from companion.rules import Game, Square

_NEXT_CARD_S = 1.0
"""Nobody lays the card of the next cube sooner than this after the opponent's cube."""


class CardPiles:
    """What the card on each pile was before, which tells when a card has been laid (Green Box).

    A cube's kind is on its owner's card, and its owner may lay the card before the cube or after it. So a pile tells
    the kind of a cube only when what lies on top now can be none of what may have lain there when the owner's last cube
    was committed. The same card twice tells nothing; nor does a pile that is not read surely enough, nor, for a while,
    a card as it may have lain beneath that of the last cube, which may only have been taken up.
    """

    def __init__(self) -> None:
        self._piles = {colour: Pile() for colour in Colour}
        self._waiting: dict[Square, Contents] = {}
        """The cubes that are not committed yet, as they were seen last."""
        self._told: dict[Square, Contents] = {}
        """What the piles have told of them."""

    @classmethod
    def of(cls, played: Iterable[Piece], lying: Iterable[Piece] = ()) -> Self:
        """The piles after these cubes, before which others were `lying` there; none of their cards was seen."""
        piles = cls()
        for piece in lying:
            piles.begin({piece.colour: frozenset({piece.kind})})
        for piece in played:
            piles.played(piece)
        return piles

    def follow(self, others: CardPiles) -> None:
        """Another match begins where those piles lay, or lie still, in whatever order their cards were picked up."""
        for colour, pile in others._piles.items():
            older = pile.ever
            self._piles[colour] = Pile(before=older, ever=older, beneath=older, shown=pile.shown, seen=pile.seen)

    @property
    def waited_for(self) -> bool:
        """Whether there are cubes that are not committed yet."""
        return bool(self._waiting)

    def begin(self, cards: Mapping[Colour, frozenset[Kind]]) -> None:
        """A match begins, or is joined: these cards, which lie there, belong to no cube that is still to come."""
        for colour, kinds in cards.items():
            self._piles[colour].before |= kinds
            self._piles[colour].ever |= kinds

    def corrected(self, piece: Piece, *, newest: bool) -> None:
        """A cube that was committed is this one in truth, and its card that kind; maybe its owner's `newest` cube."""
        self.begin({piece.colour: frozenset({piece.kind})})
        if newest:
            self._piles[piece.colour].last = piece.kind

    def see(self, cards: Mapping[Colour, frozenset[Kind]], time: float) -> None:
        """Note what shows, also that the card of a cube which was committed without it has been laid."""
        for colour, pile in self._piles.items():
            pile.see(cards.get(colour), time)

    def played(self, piece: Piece) -> None:
        """A cube was committed as `piece` while the piles show what they do."""
        self._piles[piece.colour].played(piece.kind)

    def taken_back(self, piece: Piece, left: Iterable[Piece]) -> None:
        """A cube was taken back, and others of its owner are left: its card may be gone, and an older one be on top."""
        pile = self._piles[piece.colour]
        older = {other.kind for other in left if other.colour is piece.colour}
        pile.before |= pile.ever | older | {piece.kind}
        pile.last = None

    def may_be_exchanged(self, game: Game, arrivals: Iterable[Arrival]) -> Arrival | None:
        """The last cube, where another card came to lie in place of its own, and its opponent is to move.

        The card may be right now and have been wrong before. Or it is of a next cube: surely, if that lay there first.
        """
        last = game.last_move
        if last is None or game.to_move is not last.piece.colour.other:
            return None
        colour, pile = last.piece.colour, self._piles[last.piece.colour]
        if pile.instead is None or pile.last is not last.kind:
            return None
        shown, since = pile.instead
        if any(other.contents & of_colour(colour) and other.after <= since for other in arrivals):
            return None
        kinds = shown | {last.kind}
        return Arrival(last.square, contents_of(Piece(colour, kind) for kind in kinds), since, since)

    def narrow(
        self,
        game: Game,
        arrivals: Sequence[Arrival],
        cards: Mapping[Colour, frozenset[Kind]],
        time: float,
        lifted: Iterable[Piece] = (),
        stirred: AbstractSet[Square] = frozenset(),
    ) -> list[Arrival]:
        """The arrivals in `game` at `time` (source seconds), with the kinds that the piles leave.

        Whose cube is `lifted` may have taken up its card: then an older one that is on top tells nothing. Nor does any
        while squares are `stirred`, for cubes that lie there may wait for it; what was told of those still counts.

        A pile tells the one cube of its owner that waits for a card. When the opponent has played on, or has to pass, a
        card that is laid then belongs to the owner's next cube; what was told before still counts. Where more than one
        waited when it was laid, it tells neither, not even when the others are gone.
        """
        bared = {piece.colour for piece in lifted if self._may_be_older(cards, piece.colour)}
        last = game.last_move
        if last is not None and self.may_be_exchanged(game, arrivals):
            bared.add(last.piece.colour)
        lie = {arrival.square: arrival.contents for arrival in arrivals}
        self._waiting = {square: seen for square, seen in self._waiting.items() if square in stirred} | lie
        self._told = {square: self._told.get(square, ANYTHING) for square in self._waiting}
        for colour, pile in self._piles.items():
            waiting = [arrival for arrival in arrivals if arrival.contents & of_colour(colour)]
            if sum(1 for seen in self._waiting.values() if seen & of_colour(colour)) > 1:
                pile.several = time
            if len(waiting) == 1 and colour in cards and colour not in bared and not stirred:
                others = [other for other in arrivals if other is not waiting[0]]
                is_last = colour is not game.to_move and len(others) == 1
                self._tell(waiting[0], colour, cards[colour], time, () if is_last else others)
        return [
            replace(arrival, contents=arrival.contents & self._meant(game, arrival, arrivals) or arrival.contents)
            for arrival in arrivals
        ]

    def _tell(
        self, waiting: Arrival, colour: Colour, kinds: frozenset[Kind], time: float, later: Iterable[Arrival]
    ) -> None:
        """Note that the card which a player's pile shows is that of the cube which is waiting, if it is.

        If others were seen to show, it may be any of these. Cubes that were played `later` may be such as it waits for.
        """
        pile = self._piles[colour]
        _, since = pile.showing(kinds, time)
        if since <= pile.several or not pile.is_new(kinds, time - since):
            return
        if not any(_played_on(waiting, other, since) for other in later):
            self._told[waiting.square] &= ~of_colour(colour)
            self._told[waiting.square] |= contents_of(Piece(colour, kind) for kind in kinds | pile.may_have_shown)

    def narrow_moved(
        self,
        game: Game,
        arrivals: Sequence[Arrival],
        cards: Mapping[Colour, frozenset[Kind]],
        time: float,
        lifted: Iterable[Piece],
    ) -> list[Arrival]:
        """The arrivals that lie there in place of these cubes, which were committed and lifted.

        A cube that was moved keeps its card; and where none was laid since, as it may have lain there for an older
        cube, the kind that it was committed as.
        """
        shown, others = dict(cards), CardPiles()
        others._piles = {colour: replace(pile, instead=None) for colour, pile in self._piles.items()}
        for piece in lifted:
            pile = self._piles[piece.colour]
            moved = others._piles[piece.colour]
            moved.before = moved.beneath = frozenset()
            moved.new = ()
            kinds = cards.get(piece.colour, frozenset())
            if piece.kind in kinds:
                continue
            if not kinds.isdisjoint(pile.before):
                shown[piece.colour] = frozenset({piece.kind})
            elif pile.may_be_older(kinds):
                shown.pop(piece.colour, None)
        return others.narrow(game, arrivals, shown, time)

    def may_tell(self, arrival: Arrival) -> bool:
        """Whether a pile shows a card that may tell this cube soon: not for long enough yet, or hands are about."""
        if self._told.get(arrival.square, ANYTHING) != ANYTHING:
            return False
        for pile in (self._piles[colour] for colour in {piece.colour for piece in arrival.pieces}):
            kinds, _ = pile.shown
            if frozenset() < kinds < frozenset(Kind) and pile.may_be_new(kinds):
                return True
        return False

    def _may_be_older(self, cards: Mapping[Colour, frozenset[Kind]], colour: Colour) -> bool:
        return self._piles[colour].may_be_older(cards.get(colour, frozenset()))

    def _meant(self, game: Game, arrival: Arrival, arrivals: Iterable[Arrival]) -> Contents:
        """What the piles have told of a cube; and what it may be if its card is hidden by that of a next one.

        That is the same card again, as what the opponent has to pass after. Not if just the opponent has played on.
        """
        told = self._told[arrival.square]
        if told == ANYTHING:
            return told
        later = [other for other in arrivals if other is not arrival]
        for colour in {move.piece.colour for move in legal_moves(game, arrival)}:
            own = of_colour(colour)
            if later and all(arrival.surely_before(other) and not other.contents & own for other in later):
                continue
            again = contents_of(Piece(colour, kind) for kind in self._piles[colour].before)
            moves = legal_moves(game, replace(arrival, contents=arrival.contents & again))
            told |= contents_of(move.piece for move in moves if game.play(move).to_move is colour)
        return told


def _played_on(arrival: Arrival, other: Arrival, time: float) -> bool:
    """Whether the other cube may have come later, and another card have been laid since.

    It may have come as soon as its square was last seen bare. If both may have come at once, as between two
    photographs, there was more time than the source tells.
    """
    if other.surely_before(arrival):
        return False
    return not arrival.surely_before(other) or time - other.after > _NEXT_CARD_S
