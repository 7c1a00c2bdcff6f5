"""One game, from the first piece to the outcome, as an immutable value.

`Game.play` returns a new game. After every piece the game itself works out what follows: the squares that are legal
now, a forced pass and the free play after it, the last chance when a hand is empty, and the end. Nobody plays a pass;
it happens. Rule numbers in comments are those of ``docs/overview.md``, which sums up the rule book.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NoReturn, get_args

from companion.errors import RulesError
from companion.rules.constraint import Constraint
from companion.rules.layout import STANDARD, Layout, Square
from companion.rules.notation import Move, Pass, Ply, parse_move
from companion.rules.pieces import PIECES_PER_KIND_AND_SET, Colour, Content, Kind, Piece
from companion.rules.position import Position
from companion.rules.score import Score, score_of
from companion.saying import Saying, joined

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

FirstMove = Literal["outside", "anywhere"]
RefusalReason = Literal["square", "turn", "kind", "over"]
_KINDS = tuple(Kind)


class IllegalMoveError(RulesError):
    """A move that the rules refuse. The message says in words what is wrong and what would be legal."""

    def __init__(self, message: str, *, reason: RefusalReason, legal: frozenset[Square]) -> None:
        super().__init__(message)
        self.reason: RefusalReason = reason
        """``square`` (not a legal square), ``turn`` (the other player's), ``kind`` (none left) or ``over``."""
        self.legal = legal
        """The squares that are legal instead."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a finished game ended."""

    winner: Colour | None
    """None for a draw."""
    score: Score

    def __str__(self) -> str:
        if self.winner is None:
            return f"Draw {self.score}"
        return f"{self.winner.value.capitalize()} wins {self.score}"


@dataclass(frozen=True, slots=True)
class Game:
    """A position with its history: everything the rules need to know.

    Made by `start`, `replay` or `from_position`, never by calling the class.
    """

    layout: Layout
    first: FirstMove
    sets: int
    """How many sets are in play; each gives a player two of every kind."""
    contents: tuple[Content, ...]
    """What each square holds, in the order of `layout.squares`."""
    light: int
    dark: int
    """The squares each colour holds, as bits of `layout`."""
    history: tuple[Ply, ...]
    to_move: Colour | None
    """None when the game is over."""
    constraint: Constraint | None
    """What the piece just played asks for; None for the first move and for a free play."""
    last_chance: bool = False
    """The player to move has one piece left to place, because the opponent has placed their last."""
    joined: Position | None = None
    """Where the history begins, when that is not the empty board."""

    @classmethod
    def start(cls, first: FirstMove = "outside", *, layout: Layout | None = None, sets: int | None = None) -> Game:
        """An empty board with Light to move.

        Args:
            first: where the first piece may go: on an *outside* square (rule book) or *anywhere* (Green Box, PerGioco).
            layout: the board; 4x4 by default.
            sets: how many sets of pieces; by default one for every sixteen squares, rounded up.

        Raises:
            RulesError: for an unknown `first` or fewer than one set.

        """
        layout = layout or Layout.parse(STANDARD)
        if first not in get_args(FirstMove):
            raise RulesError(f"first is {first!r}; it must be 'outside' or 'anywhere'")
        sets = layout.default_sets if sets is None else sets
        if sets < 1:
            raise RulesError(f"sets is {sets}; a game needs at least one")
        return cls(layout, first, sets, (None,) * len(layout), 0, 0, (), Colour.LIGHT, None)

    @classmethod
    def replay(
        cls,
        plies: Iterable[str | Ply],
        first: FirstMove = "outside",
        *,
        layout: Layout | None = None,
        sets: int | None = None,
    ) -> Game:
        """The game that `plies` tell, texts as in `history`.

        A pass is accepted exactly where one is forced, and must be told there; only one after the last move may be
        left out.

        Raises:
            NotationError: for a text that is neither move nor pass.
            IllegalMoveError: for the first ply that the rules refuse; the message names it.

        """
        return cls.start(first, layout=layout, sets=sets).extend(plies)

    @classmethod
    def from_position(
        cls,
        contents: Mapping[Square, Piece],
        *,
        to_move: Colour,
        last: Square | None,
        first: FirstMove = "outside",
        layout: Layout | None = None,
        sets: int | None = None,
    ) -> Game:
        """A game joined in progress, with an empty history.

        Args:
            contents: the pieces that lie on the board.
            to_move: whose turn it is; should they have no legal square, their pass is added at once.
            last: where the opponent's piece lies that binds them, or None for a free play.
            first: as for `start`, and so are `layout` and `sets`.

        Raises:
            RulesError: if a piece lies off the board, a player has more pieces of a kind than there are, `last` is
                no piece of the opponent, or Dark is to begin on an empty board.

        """
        game = cls.start(first, layout=layout, sets=sets)
        position = Position(tuple(sorted(contents.items())), to_move, last)
        constraint = _binding(position)
        if not contents:
            if to_move is not Colour.LIGHT:
                raise RulesError(Saying("the board is empty, so it is Light's turn"))
            return game
        for square, piece in position.pieces:
            game = game._joined_by(square, piece)
        return replace(game, constraint=constraint, joined=position)._turn_to(to_move)

    def joined_at(self, position: Position) -> Game:
        """A game of the same kind that is joined at `position`. Raises as `from_position`."""
        return Game.from_position(
            dict(position.pieces),
            to_move=position.to_move,
            last=position.last,
            first=self.first,
            layout=self.layout,
            sets=self.sets,
        )

    @property
    def beginning(self) -> Game:
        """The same game before its first ply: the empty board, or the position where it was joined."""
        if self.joined is None:
            return Game.start(self.first, layout=self.layout, sets=self.sets)
        return self.joined_at(self.joined)

    def after(self, plies: int) -> Game:
        """The same game when its history had `plies` entries, and one more where a pass was forced then."""
        return self.retold(self.history[:plies])

    def retold(self, plies: Iterable[str | Ply]) -> Game:
        """The same game from its beginning, with other plies. Raises as `replay`."""
        return self.beginning._told(plies, 0)

    def extend(self, plies: Iterable[str | Ply]) -> Game:
        """Play `plies` on from here; as `replay`."""
        return self._told(plies, len(self.history))

    def _told(self, plies: Iterable[str | Ply], first: int) -> Game:
        """With `plies` as the entries of the history that follow its `first`, be they there already or not."""
        game = self
        for told, given in enumerate(plies, start=first):
            game = game.extend_from(told, parse_move(given) if isinstance(given, str) else given)
        return game

    def extend_from(self, told: int, ply: Ply) -> Game:
        """Play `ply` as the entry that follows the first `told` entries of the history.

        Where the history is longer by a forced pass, `ply` has to be that pass. Raises `IllegalMoveError`.
        """
        forced = told < len(self.history)
        if isinstance(ply, Pass):
            if forced:
                return self
            if self.to_move is None:
                self._refuse(f"ply {told + 1}: a pass comes after the end. {self.outcome}.", "over")
            self._refuse(f"ply {told + 1}: a pass is not forced here, so it is not allowed", "turn")
        if forced:
            passing = self.history[told].colour
            self._refuse(
                f"ply {told + 1}: {_name(passing)} had no legal square and passed; write - before {ply}",
                "turn",
            )
        try:
            return self.play(ply)
        except IllegalMoveError as error:
            raise IllegalMoveError(f"ply {told + 1}: {error}", reason=error.reason, legal=error.legal) from None

    @property
    def moves(self) -> list[Move]:
        """The placements of the history, without its passes."""
        return [ply for ply in self.history if isinstance(ply, Move)]

    @property
    def last_move(self) -> Move | None:
        """The last placement, which may have been followed by passes; None before the first."""
        return next((ply for ply in reversed(self.history) if isinstance(ply, Move)), None)

    @property
    def last_square(self) -> Square | None:
        """Where the last piece was played; None before the first."""
        return self.last_move.square if self.last_move else None

    def legal_squares(self) -> frozenset[Square]:
        """Where the next piece may go; empty when the game is over."""
        return self.layout.squares_in(self.legal_mask())

    def legal_mask(self) -> int:
        """`legal_squares` as bits of `layout`."""
        if self.to_move is None:
            return 0
        empty = self.layout.all & ~(self.light | self.dark)
        if self.constraint is not None:
            return empty & self.constraint.mask(self.layout)
        if self.first == "outside" and empty == self.layout.all:
            return empty & self.layout.geometry.outside  # rule 2
        return empty

    def in_hand(self, colour: Colour) -> dict[Kind, int]:
        """How many pieces of each kind a player has left."""
        placed = [piece.kind for piece in self.contents if piece is not None and piece.colour is colour]
        supply = PIECES_PER_KIND_AND_SET * self.sets
        return {kind: max(0, supply - placed.count(kind)) for kind in _KINDS}

    def pieces_left(self, colour: Colour) -> int:
        """How many pieces a player has left in all."""
        held = self.light if colour is Colour.LIGHT else self.dark
        return max(0, PIECES_PER_KIND_AND_SET * self.sets * len(_KINDS) - held.bit_count())

    def content(self, square: Square) -> Content:
        """What `square` holds; `KeyError` if the board does not have it."""
        return self.contents[self.layout.index(square)]

    @property
    def score(self) -> Score:
        """The running score, or the final one: a function of the colours on the board alone."""
        return score_of(self.layout, self.light, self.dark)

    @property
    def outcome(self) -> Outcome | None:
        """How the game ended; None while it goes on."""
        if self.to_move is not None:
            return None
        score = self.score
        return Outcome(score.leader, score)

    @property
    def free_play(self) -> bool:
        """Whether the opponent has just passed, so that any empty square is legal."""
        return self.to_move is not None and self.constraint is None and bool(self.light | self.dark)

    @property
    def explanation(self) -> str:
        """Why the legal squares are legal, in one sentence for people."""
        if self.to_move is None:
            return f"The game is over. {self.outcome}."
        if not self.last_chance:
            return self._rule_in_words
        return Saying("%(player)s's last chance. %(rule)s", player=_name(self.to_move), rule=self._rule_in_words)

    @property
    def _rule_in_words(self) -> Saying:
        if self.constraint is not None:
            return self.constraint.explain(self.layout)
        if self.light | self.dark:
            passed = self.to_move and self.to_move.other
            return Saying("Free play after %(player)s's pass: any empty square", player=_name(passed))
        outside = self.first == "outside"
        return Saying("First move: any outside square") if outside else Saying("First move: any square")

    def play(self, move: str | Move, *, colour: Colour | str | None = None, ruled: bool = False) -> Game:
        """Put a piece down and work out what follows.

        Args:
            move: notation such as ``"a1+"``, or a `Move`. What it says of its player and of a ruling counts.
            colour: whose piece it is, where that is not the player to move.
            ruled: accept it as a referee's ruling: on any empty square, of either colour, of any kind.

        Raises:
            NotationError: if a text is no move.
            IllegalMoveError: if the rules refuse it; `reason`, `legal` and the message say why.

        """
        parsed = parse_move(move) if isinstance(move, str) else move
        if isinstance(parsed, Pass):
            self._refuse("A pass is never played: the game adds it where no square is legal", "turn")
        ruled = ruled or parsed.ruled
        if self.to_move is None:
            self._refuse(f"{parsed} comes after the end. {self.outcome}.", "over")
        mover = Colour(colour) if colour is not None else parsed.colour or self.to_move
        self._refuse_place(parsed.square)
        if not ruled:
            self._refuse_piece(parsed.square, Piece(mover, parsed.kind))
        placed = self._put(parsed.square, Piece(mover, parsed.kind))
        entry = Move(parsed.square, parsed.kind, mover, ruled)
        return replace(
            placed,
            history=(*self.history, entry),
            constraint=Constraint(parsed.square, parsed.kind),
        )._after_piece(mover, was_last_chance=self.last_chance and mover is self.to_move)

    def refusal(self, square: Square, piece: Piece) -> IllegalMoveError | None:
        """Why `piece` may not be played on `square` now, or None where it may."""
        try:
            self.play(Move(square, piece.kind, piece.colour))
        except IllegalMoveError as error:
            return error
        return None

    def _refuse_place(self, square: Square) -> None:
        """Refuse what not even a ruling can do."""
        if square not in self.layout:
            self._refuse(Saying("%(square)s is not on this board", square=str(square)), "square")
        holds = self.content(square)
        if holds is not None:
            taken = Saying("%(square)s is taken by a %(piece)s", square=str(square), piece=Saying(str(holds)))
            self._refuse(taken, "square")

    def _refuse_piece(self, square: Square, piece: Piece) -> None:
        """Refuse what the rules do: first whose piece it is, since the legal squares are the other player's then."""
        if piece.colour is not self.to_move:
            whose, not_whose = _name(self.to_move), _name(piece.colour)
            self._refuse(Saying("It is %(player)s's turn, not %(other)s's", player=whose, other=not_whose), "turn")
        if not self.legal_mask() >> self.layout.index(square) & 1:
            self._refuse(Saying("%(square)s is not legal", square=str(square)), "square")
        hand = self.in_hand(piece.colour)
        if not hand[piece.kind]:
            others = joined([Saying(kind.value) for kind in _KINDS if hand[kind]], ", ")
            player, kind = _name(piece.colour), Saying(piece.kind.value)
            told = Saying("%(player)s has no %(kind)s left, only %(others)s", player=player, kind=kind, others=others)
            self._refuse(told, "kind")

    def _refuse(self, what: str, reason: RefusalReason) -> NoReturn:
        legal = self.legal_squares()
        squares = " ".join(map(str, sorted(legal)))
        if self.to_move is not None:
            what = Saying("%(what)s. %(why)s (%(squares)s)", what=what, why=self.explanation, squares=squares)
        raise IllegalMoveError(what, reason=reason, legal=legal)

    def _joined_by(self, square: Square, piece: Piece) -> Game:
        if square not in self.layout:
            raise RulesError(f"there is a {piece} on {square}, which this board does not have")
        if not self.in_hand(piece.colour)[piece.kind]:
            supply = PIECES_PER_KIND_AND_SET * self.sets
            raise RulesError(
                Saying(
                    "the %(piece)s on %(square)s is one too many; a player has %(supply)s of each kind",
                    piece=Saying(str(piece)),
                    square=str(square),
                    supply=supply,
                )
            )
        return self._put(square, piece)

    def _put(self, square: Square, piece: Piece) -> Game:
        index = self.layout.index(square)
        bit = 1 << index
        return replace(
            self,
            contents=(*self.contents[:index], piece, *self.contents[index + 1 :]),
            light=self.light | bit if piece.colour is Colour.LIGHT else self.light,
            dark=self.dark | bit if piece.colour is Colour.DARK else self.dark,
        )

    def _after_piece(self, mover: Colour, *, was_last_chance: bool) -> Game:
        if was_last_chance:
            return self._over()
        return self._turn_to(mover.other)

    def _turn_to(self, player: Colour) -> Game:
        """Give `player` the turn, or pass it over (rules 4 to 6)."""
        if not self.pieces_left(player):
            return self._over()
        turn = replace(self, to_move=player, last_chance=not self.pieces_left(player.other))
        if turn.legal_mask():
            return turn
        passed = replace(turn, history=(*self.history, Pass(player)))
        if turn.last_chance:
            return passed._over()  # rule 5: the last chance is forfeited
        free = replace(passed, to_move=player.other, constraint=None)
        return free if free.legal_mask() else free._over()  # rule 6

    def _over(self) -> Game:
        return replace(self, to_move=None, constraint=None, last_chance=False)


def _binding(position: Position) -> Constraint | None:
    if position.last is None:
        return None
    piece = dict(position.pieces).get(position.last)
    if piece is None:
        raise RulesError(
            Saying("%(square)s is empty, so it cannot hold the last piece played", square=str(position.last))
        )
    if piece.colour is position.to_move:
        raise RulesError(
            Saying(
                "the last piece played is the %(piece)s on %(square)s, so it is %(player)s's turn",
                piece=Saying(str(piece)),
                square=str(position.last),
                player=_name(piece.colour.other),
            )
        )
    return Constraint(position.last, piece.kind)


def _name(colour: Colour | None) -> str:
    return Saying(colour.value.capitalize()) if colour else "Nobody"
