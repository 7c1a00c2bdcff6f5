"""The cards on the piles of the Green Box: which of them belong to which cube."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from companion.readings import ANYTHING, contents_of, of_colour
from companion.referee.explanation import Arrival, legal_moves
from companion.rules import Piece

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from collections.abc import Set as AbstractSet
    from typing import Self

    from companion.readings import Contents
    from companion.rules import Colour, Game, Kind, Square

_NEXT_CARD_S = 1.0
"""Nobody lays the card of the next cube sooner than this after the opponent's cube."""

_TAKEN_UP_S = 2.0
"""A card that is taken up to look at it is back on its pile before that, and what lay beneath it hidden again."""


class CardPiles:
    """What the card on each pile was before, which tells when a card has been laid (Green Box).

    A cube's kind is on its owner's card, and its owner may lay the card before the cube or after it. So a pile tells
    the kind of a cube only when what lies on top now can be none of what may have lain there when the owner's last cube
    was committed. The same card twice tells nothing; nor does a pile that is not read surely enough, nor, for a while,
    a card as it may have lain beneath that of the last cube, which may only have been taken up.
    """

    def __init__(self) -> None:
        self._before: defaultdict[Colour, frozenset[Kind]] = defaultdict(frozenset)
        self._ever: defaultdict[Colour, frozenset[Kind]] = defaultdict(frozenset)
        """Every card that was played, or lay there before."""
        self._beneath: defaultdict[Colour, frozenset[Kind]] = defaultdict(frozenset)
        """What may show when the card on top is taken up."""
        self._told: dict[Square, Contents] = {}
        """What the piles have told of the cubes that are not committed yet."""
        self._last: dict[Colour, Kind] = {}
        """The card that each player's last cube was committed as, until a cube is taken back."""
        self._shown: dict[Colour, tuple[frozenset[Kind], float]] = {}
        """What each pile was last seen to show, as surely as it was, and since when, in source seconds."""
        self._instead: dict[Colour, tuple[frozenset[Kind], float]] = {}
        """What showed in place of the card of each player's last cube, which was seen before, and since when."""

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
        self.begin(others._ever)

    @property
    def waited_for(self) -> bool:
        """Whether there are cubes that are not committed yet."""
        return bool(self._told)

    def begin(self, cards: Mapping[Colour, frozenset[Kind]]) -> None:
        """A match begins, or is joined: these cards, which lie there, belong to no cube that is still to come."""
        for colour, kinds in cards.items():
            self._before[colour] |= kinds
            self._ever[colour] |= kinds

    def corrected(self, piece: Piece, *, newest: bool) -> None:
        """A cube that was committed is this one in truth, and its card that kind; maybe its owner's `newest` cube."""
        self.begin({piece.colour: frozenset({piece.kind})})
        if newest:
            self._last[piece.colour] = piece.kind

    def see(self, cards: Mapping[Colour, frozenset[Kind]], time: float) -> None:
        """Note what shows, also that the card of a cube which was committed without it has been laid."""
        for colour, kinds in cards.items():
            self._shown[colour] = self._showing(colour, kinds, time)
        for colour, kind in self._last.items():
            if cards.get(colour) == frozenset({kind}):
                self._before[colour] = frozenset({kind})
            self._note_instead(colour, kind, time)

    def _note_instead(self, colour: Colour, own: Kind, time: float) -> None:
        shown, _ = self._shown.get(colour, (frozenset(), 0.0))
        if not shown or own in shown or self._before[colour] != {own}:
            self._instead.pop(colour, None)
            return
        so_far, since = self._instead.get(colour, (shown, time))
        self._instead[colour] = (so_far | shown, since)

    def played(self, piece: Piece) -> None:
        """A cube was committed as `piece` while the piles show what they do.

        Its card lies there, or one that lay there before, for its own may still be on the way: more is not learnt from
        a pile that may show its kind among others. One that cannot show it may show what is still to come.
        """
        colour = piece.colour
        shown, _ = self._shown.get(colour, (frozenset(), 0.0))
        lies = frozenset({piece.kind})
        is_laid = shown == lies and piece.kind not in self._before[colour]
        self._beneath[colour] = self._before[colour] | (frozenset() if is_laid else self._beneath[colour])
        if shown != lies:
            lies |= self._before[colour]
        if piece.kind not in shown:
            lies |= shown
        self._before[colour], self._last[colour] = lies, piece.kind
        self._instead.pop(colour, None)
        self._ever[colour] |= lies

    def taken_back(self, piece: Piece, left: Iterable[Piece]) -> None:
        """A cube was taken back, and others of its owner are left: its card may be gone, and an older one be on top."""
        older = {other.kind for other in left if other.colour is piece.colour}
        self._before[piece.colour] |= self._ever[piece.colour] | older | {piece.kind}
        self._last.pop(piece.colour, None)

    def may_be_exchanged(self, game: Game, arrivals: Iterable[Arrival]) -> Arrival | None:
        """The last cube, where another card came to lie in place of its own, and its opponent is to move.

        The card may be right now and have been wrong before. Or it is of a next cube: surely, if that lay there first.
        """
        last = game.last_move
        if last is None or game.to_move is not last.piece.colour.other:
            return None
        colour, own = last.piece.colour, frozenset({last.kind})
        if colour not in self._instead or self._last.get(colour) is not last.kind:
            return None
        shown, since = self._instead[colour]
        if any(other.contents & of_colour(colour) and other.after <= since for other in arrivals):
            return None
        return Arrival(last.square, contents_of(Piece(colour, kind) for kind in shown | own), since, since)

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
        card that is laid then belongs to the owner's next cube; what was told before still counts.
        """
        bared = {piece.colour for piece in lifted if self._may_be_older(cards, piece.colour)}
        last = game.last_move
        if last is not None and self.may_be_exchanged(game, arrivals):
            bared.add(last.piece.colour)
        cards = {} if stirred else {colour: kinds for colour, kinds in cards.items() if colour not in bared}
        waiting_on = {arrival.square for arrival in arrivals} | stirred
        self._told = {square: self._told.get(square, ANYTHING) for square in waiting_on}
        for colour, kinds in cards.items():
            waiting = [arrival for arrival in arrivals if arrival.contents & of_colour(colour)]
            _, since = self._showing(colour, kinds, time)
            laid = self._is_laid(colour, kinds, time - since)
            if laid and len(waiting) == 1 and not any(_played_on(waiting[0], other, since) for other in arrivals):
                told = self._told[waiting[0].square] & ~of_colour(colour)
                told |= contents_of(Piece(colour, kind) for kind in kinds)
                self._told[waiting[0].square] = told | self._before_a_pass(game, waiting[0], colour)
        return [
            replace(arrival, contents=arrival.contents & self._told[arrival.square] or arrival.contents)
            for arrival in arrivals
        ]

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
        others._before |= self._before
        others._beneath |= self._beneath
        others._shown |= self._shown
        for piece in lifted:
            others._before.pop(piece.colour, None)
            others._beneath.pop(piece.colour, None)
            kinds = cards.get(piece.colour, frozenset())
            if piece.kind in kinds:
                continue
            if not kinds.isdisjoint(self._before[piece.colour]):
                shown[piece.colour] = frozenset({piece.kind})
            elif self._may_be_older(cards, piece.colour):
                shown.pop(piece.colour, None)
        return others.narrow(game, arrivals, shown, time)

    def _is_laid(self, colour: Colour, kinds: frozenset[Kind], shown_s: float) -> bool:
        """Whether a card that shows so, for so long, was laid since the owner's last cube was committed."""
        bared = not kinds.isdisjoint(self._beneath[colour])
        return kinds.isdisjoint(self._before[colour]) and (not bared or shown_s >= _TAKEN_UP_S)

    def _showing(self, colour: Colour, kinds: frozenset[Kind], time: float) -> tuple[frozenset[Kind], float]:
        """What a pile shows that is seen so now, and since when: one that is only read less surely is as it was."""
        shown, since = self._shown.get(colour, (kinds, time))
        return (shown, since) if shown <= kinds else (kinds, time)

    def _may_be_older(self, cards: Mapping[Colour, frozenset[Kind]], colour: Colour) -> bool:
        """Whether the card that is on top may have lain there before others."""
        return not cards.get(colour, frozenset()).isdisjoint(self._ever[colour])

    def _before_a_pass(self, game: Game, arrival: Arrival, colour: Colour) -> Contents:
        """The same card again as what the opponent has to pass after: the card of the owner's next cube may hide it."""
        again = contents_of(Piece(colour, kind) for kind in self._before[colour])
        moves = legal_moves(game, replace(arrival, contents=arrival.contents & again))
        return contents_of(move.piece for move in moves if game.play(move).to_move is colour)


def _played_on(arrival: Arrival, other: Arrival, time: float) -> bool:
    """Whether the other cube came later, or was first seen with it, and another card may have been laid since."""
    return other is not arrival and other.since >= arrival.since and time - other.since > _NEXT_CARD_S
