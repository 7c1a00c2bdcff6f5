"""What lies there instead of the last placements: another legal play, and what is in doubt about it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from companion.readings import contents_of
from companion.referee import doubts
from companion.referee.explanation import could_have_been, explain, legal_moves

if TYPE_CHECKING:
    from collections.abc import Sequence

    from companion.referee.comparison import Comparison
    from companion.referee.explanation import Arrival
    from companion.referee.record import Record
    from companion.rules import Game, Move


@dataclass(frozen=True, slots=True)
class Instead:
    """Another legal play of all that lies there in place of the last placements."""

    count: int
    """So many placements are gone for it."""
    orders: tuple[tuple[Move, ...], ...]
    """The ways to have played all of it."""
    goes_on: tuple[tuple[Move, ...], ...]
    """The ways in which it goes on the game as it stood, if there are any: pieces may only have been lifted."""
    arrivals: Sequence[Arrival]
    """What lies there."""
    moves: tuple[Move, ...]
    """The moves with which it surely begins, and that are told at once."""
    unseen: Arrival | None
    """A square out of sight on which a move may have been played before it."""
    doubtful: Arrival | None
    """What else is to be asked before it is believed."""

    def choices(self, game: Game) -> dict[str, int]:
        """What may have been played from the first of the last pieces on, and how many moves that takes back."""
        lifted = game.moves[-self.count :]
        as_it_stands = {" ".join(map(str, (*lifted, *order))): 0 for order in self.goes_on}
        return as_it_stands | {" ".join(map(str, order)): self.count for order in self.orders}


def may_be_instead(record: Record, board: Comparison) -> bool:
    """Whether the last piece, or an earlier one that an arrival may be in place of, is not there."""
    game = record.game
    if game.last_square in board.lost or board.may_be_moved_piece(game):
        return True
    lost_to = ((gone, new) for gone in board.lost for new in board.arrivals)
    return any(could_have_been(record.past, game.moves, gone, new) for gone, new in lost_to)


def played_instead(
    record: Record, board: Comparison, arrivals: Sequence[Arrival], *, unseen_s: float
) -> Instead | None:
    """What the `arrivals` are, if they are another legal play in place of the last placements.

    Args:
        unseen_s: in this time moves may be played where nothing is seen.
    """
    count = record.placements_on(set(board.lost))
    if not count or not arrivals or board.is_swept(record.game):
        return None
    before = record.past[-count]
    found, goes_on = explain(before, arrivals), explain(record.game, arrivals)
    if not found.complete or (goes_on.complete and _lay_there_before(board, arrivals)):
        return None
    return Instead(
        count,
        found.orders,
        goes_on.orders if goes_on.complete else (),
        arrivals,
        doubts.played_in_sight(before, arrivals, board, found, unseen_s),
        unseen=doubts.played_unseen(before, arrivals, board, found, unseen_s),
        doubtful=doubts.told_by_later_play(before, arrivals, found) or doubts.between(before, board, found),
    )


def _lay_there_before(board: Comparison, arrivals: Sequence[Arrival]) -> bool:
    """Whether the `arrivals` lay there before any piece that is lost was lifted."""
    all_there = max(arrival.since for arrival in arrivals)
    return all(all_there <= gone.after for gone in board.lost.values())


def lacking_instead(record: Record, board: Comparison, arrivals: Sequence[Arrival]) -> Arrival | None:
    """A square that may hold a piece, or none, with which all that lies there would be another such play.

    Where nothing else lies there, only one that was bare before.
    """
    count = record.placements_on(set(board.lost))
    if not count or board.is_swept(record.game):
        return None
    maybes = [maybe for maybe in (*board.maybes, *board.hardly_replaced) if arrivals or maybe.appeared]
    return doubts.lacking(record.past[-count], replace(board, arrivals=arrivals, maybes=maybes))


def unclear_instead(record: Record, board: Comparison, arrivals: Sequence[Arrival]) -> Arrival | None:
    """A piece that the last move was taken back for, and that may have been played there as several kinds.

    What was played after it does not tell which: that may itself be a mistake.
    """
    if not arrivals or record.placements_on(set(board.lost)) != 1:
        return None
    before = record.past[-1]
    found = explain(before, arrivals)
    told_later = doubts.told_by_later_play(before, arrivals, found)
    if told_later is not None or found.certain or found.next_square is None:
        return told_later
    moved = next(arrival for arrival in arrivals if arrival.square == found.next_square)
    return replace(moved, contents=contents_of(move.piece for move in legal_moves(before, moved)))
