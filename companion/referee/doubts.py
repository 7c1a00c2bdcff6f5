"""What speaks against an explanation though the rules allow no other: a square that may hold more than was seen.

Each doubt is the square to ask about, with what may lie there, or None.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, combinations
from typing import TYPE_CHECKING

from companion.readings import SOME_PIECE, contents_of
from companion.referee.explanation import MOST_UNORDERED, are_too_many, explain, legal_moves

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from companion.referee.comparison import Comparison
    from companion.referee.explanation import Arrival, Explanation
    from companion.rules import Game, Move, Square

_MOST_UNSEEN = 2
"""More moves are not played while nobody sees them, and then another in the open."""


def first(game: Game, board: Comparison, found: Explanation, said: AbstractSet[Square]) -> Arrival | None:
    """What is to be asked before the moves that were found to go on `game` are believed.

    A person has `said` what lies on some squares.
    """
    told_later = told_by_later_play(game, board.arrivals, found)
    return told_later or between(game, board, found) or _astride(board, found, said)


def of_orders(game: Game, board: Comparison, found: Explanation) -> Arrival | None:
    """What is to be asked before orders that do not cover all that lies there, or what is illegal, are told of."""
    return None if found.complete else lacking(game, board) or between(game, board, found)


def between(game: Game, board: Comparison, found: Explanation) -> Arrival | None:
    """A square that may hold a piece with which `game` would have gone on in another order than was found.

    So may two squares, of which each was bare once: a move of each player that were both hardly seen. As much has to
    be explained as was, which need not be all: a piece that is illegal may lie there, too. Where there is more than can
    be put in order, only the next moves are looked at; with an illegal piece among them, any other next move will do.
    """
    if not found.certain:
        return None
    for maybe, likely in _hardly_seen(board):
        most = MOST_UNORDERED - len(likely)
        if len(board.arrivals) > most and not found.complete and _may_come_next(game, likely):
            return maybe
        arrivals = _next_of(board.arrivals, found, most)
        among = explain(game, [*likely, *arrivals])
        told = found.certain[: len(arrivals)]
        explains_more = len(among.orders[0]) >= len(likely) + min(len(arrivals), len(found.orders[0]))
        if explains_more and among.certain[: len(told)] != told:
            return maybe
    return None


def lacking(game: Game, board: Comparison) -> Arrival | None:
    """A square that may hold a piece with which all that lies there would be legal; so may two, as in `between`.

    With more than can be put in order, any next move may be such a piece.
    """
    for maybe, likely in _hardly_seen(board):
        lying = [*likely, *board.arrivals]
        if explain(game, lying).complete or (are_too_many(lying) and _may_come_next(game, likely)):
            return maybe
    return None


def _hardly_seen(board: Comparison) -> Iterator[tuple[Arrival, Sequence[Arrival]]]:
    """Each square that may hold a piece, then the first of each two that were bare once.

    With the pieces that may have come there until now.
    """
    alone = [(maybe,) for maybe in board.maybes]
    pairs = combinations([maybe for maybe in board.maybes if maybe.appeared], 2)
    for maybes in chain(alone, pairs):
        yield maybes[0], [replace(maybe, since=board.time) for maybe in maybes]


def _may_come_next(game: Game, likely: Sequence[Arrival]) -> bool:
    return any(legal_moves(game, each) for each in likely)


def _next_of(arrivals: Sequence[Arrival], found: Explanation, most: int) -> Sequence[Arrival]:
    """All arrivals, or so many of those that were played next as was found."""
    following = {move.square for move in found.certain[:most]}
    return [arrival for arrival in arrivals if arrival.square in following] if len(arrivals) > most else arrivals


def played_unseen(
    game: Game, arrivals: Sequence[Arrival], board: Comparison, found: Explanation, long_s: float
) -> Arrival | None:
    """A square out of sight for so long that a move may have been played there before what was found, or instead.

    The arrivals, or what was found of them, follow it then; or some come before it, in another order than was found.
    """
    if not board.unseen or are_too_many(arrivals):
        return None
    squares = {move.square for move in found.certain[:1]} or {arrival.square for arrival in arrivals}
    began = min(arrival.since for arrival in arrivals if arrival.square in squares)
    long = [unseen for unseen in board.unseen if began - unseen.since >= long_s]
    before = _played_before(game, long, arrivals, max(1, len(found.certain)), _MOST_UNSEEN)
    return before or _played_among(game, arrivals, board, found, long_s)


def played_in_sight(
    game: Game, arrivals: Sequence[Arrival], board: Comparison, found: Explanation, long_s: float
) -> tuple[Move, ...]:
    """The moves that were found, up to the second or later that one may have been played out of sight before."""
    if not board.unseen:
        return found.certain
    told: list[Move] = []
    for move in found.certain:
        if told and played_unseen(game, arrivals, board, explain(game, arrivals), long_s):
            break
        told.append(move)
        game, arrivals = game.play(move), [other for other in arrivals if other.square != move.square]
    return tuple(told)


def _played_before(
    game: Game, unseen: Sequence[Arrival], arrivals: Sequence[Arrival], follow: int, most: int
) -> Arrival | None:
    """The first of the `unseen` squares on which one to `most` moves may have been played before the arrivals.

    Of any kinds that are left. None if, whatever was played there, fewer than so many of the arrivals `follow`.
    """
    for one in unseen:
        others = [other for other in unseen if other is not one]
        for move in legal_moves(game, one):
            then = game.play(move)
            if len(explain(then, arrivals).orders[0]) >= follow:
                return one
            if most > 1 and _played_before(then, others, arrivals, follow, most - 1):
                return one
    return None


def _played_among(
    game: Game, arrivals: Sequence[Arrival], board: Comparison, found: Explanation, long_s: float
) -> Arrival | None:
    """The first square out of sight on which a move may have been played between the arrivals, as in `between`."""
    for unseen in board.unseen:
        maybe = replace(unseen, contents=SOME_PIECE, after=unseen.since + long_s)
        if between(game, replace(board, arrivals=arrivals, maybes=[maybe]), found):
            return unseen
    return None


def maybe_played(game: Game, board: Comparison, said: AbstractSet[Square]) -> list[Arrival]:
    """What may be a legal move, or nothing, on squares that were seen bare before; nobody has `said` which."""
    unsaid = [maybe for maybe in board.maybes if maybe.appeared and maybe.square not in said]
    return [maybe for maybe in unsaid if legal_moves(game, maybe)]


def told_by_later_play(game: Game, arrivals: Sequence[Arrival], found: Explanation) -> Arrival | None:
    """A piece that could be two kinds but for what was played after it: that may itself be a mistake."""
    for move in found.certain:
        arrival = next(arrival for arrival in arrivals if arrival.square == move.square)
        meant = [other.piece for other in legal_moves(game, arrival)]
        if len(meant) > 1:
            return replace(arrival, contents=contents_of(meant))
        game = game.play(move)
    return None


def _astride(board: Comparison, found: Explanation, said: AbstractSet[Square]) -> Arrival | None:
    """A square beside a piece that was found, which may hold that piece since the same time: it may lie on both.

    Not one of which a person has `said` what lies there.
    """
    moves = {move.square for move in found.certain}
    unsaid = [arrival for arrival in board.arrivals if arrival.square not in said]
    for other in (*board.maybes, *sorted(unsaid, key=lambda each: -each.contents.bit_count())):
        for new in board.arrivals:
            beside = abs(new.square.row - other.square.row) + abs(new.square.column - other.square.column) == 1
            together = not (new.surely_before(other) or other.surely_before(new))
            if new.square in moves and beside and together and new.contents & other.contents:
                return other
    return None
