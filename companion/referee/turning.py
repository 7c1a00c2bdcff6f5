"""Whether the board lies turned: somebody turned it to the other player, or the camera looks from another side now.

A game is the same whichever way the board lies, so nothing but the names of the squares depends on it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from companion.readings import EMPTY, contents_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from companion.readings import Contents, Snapshot
    from companion.rules import Game

_PIECES, _ASTRAY = 3, 2
"""So many pieces have to lie there, and so many of them elsewhere than before: one or two may have been taken back and
played where a turn would bring them, and where pieces are alike a turn may bring one to another's square."""
_STRAY_SHARE = 1 / 2
"""So many more pieces may lie there, for each of the game: those that are not played yet."""


def quarter_turns(game: Game, snapshot: Snapshot) -> int:
    """By how many quarter turns, clockwise, the board lies turned; 0 if it does not, or if that is not sure.

    Every square has to be at rest, and every piece of the game, seen for sure to be one, where such a turn brings it.
    """
    if snapshot.unsettled:
        return 0
    lies = [seen.contents for seen in snapshot.squares]
    pieces = {i: contents_of([piece]) for i, piece in enumerate(game.contents) if piece is not None}
    astray = sum(not lies[i] & piece for i, piece in pieces.items())
    if len(pieces) < _PIECES or astray < _ASTRAY:
        return 0
    if sum(not seen & EMPTY for seen in lies) > (1 + _STRAY_SHARE) * len(pieces):
        return 0
    turns = {quarters: game.layout.turned(quarters) for quarters in (1, 2, 3)}
    fitting = [quarters for quarters, places in turns.items() if places and _fits(pieces, lies, places)]
    return fitting[0] if len(fitting) == 1 else 0


def _fits(pieces: Mapping[int, Contents], lies: Sequence[Contents], places: Sequence[int]) -> bool:
    there = ((piece, lies[places[i]]) for i, piece in pieces.items())
    return all(seen & piece and not seen & EMPTY for piece, seen in there)
