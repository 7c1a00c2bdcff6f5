"""An opponent of any strength: perfect, or one that gives away a few points now and then."""

from __future__ import annotations

from typing import TYPE_CHECKING

from companion.analysis.evaluation import Analyst
from companion.errors import RulesError

if TYPE_CHECKING:
    from random import Random

    from companion.rules import Game, Move


def choose_move(game: Game, random: Random, *, give_away: int = 0, analyst: Analyst | None = None) -> Move:
    """One of the moves that give away at most `give_away` points against best play, each as likely as the other.

    Args:
        game: a game that is not over.
        random: what chooses; the same state chooses the same move.
        give_away: in points of the final margin; 0 plays perfectly, and the higher, the weaker.
        analyst: who evaluates; the same one for a whole game is quicker.

    Raises:
        RulesError: if the game is over, or `give_away` is less than 0.

    """
    if game.to_move is None:
        raise RulesError("the game is over, so there is no move to choose")
    if give_away < 0:
        raise RulesError(f"give_away is {give_away}; it must be 0 (perfect play) or more")
    return random.choice((analyst or Analyst()).moves_within(game, give_away).best)
