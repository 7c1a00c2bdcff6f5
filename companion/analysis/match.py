"""A whole match in hindsight: what each move gave away, where the match turned, and what would have held."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from companion.analysis.evaluation import Analyst, Evaluation
from companion.rules import Colour, Move, write_moves

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from companion.rules import Game, MatchText, Ply, Score


@dataclass(frozen=True, slots=True)
class MoveAnalysis:
    """One move of a match, and what it was worth."""

    ply: int
    """1-based; passes count, as in the history."""
    move: Move
    before: Evaluation
    after: Evaluation
    score: Score
    """The score after the move."""

    @property
    def given_away(self) -> int:
        """How many points worse for its player the move was than the best one; a ruling gives nothing away."""
        if self.move.ruled:
            return 0
        loss = self.before.margin - self.after.margin
        return max(0, loss if self.move.colour is Colour.LIGHT else -loss)

    @property
    def turned(self) -> bool:
        """Whether another player wins now, or it is a draw, with best play from here."""
        return self.before.winner is not self.after.winner

    def as_dict(self) -> dict[str, Any]:
        """What ``companion matches analyse --json`` tells of a move."""
        return {
            "ply": self.ply,
            "colour": str(self.move.colour),
            "move": str(self.move),
            "before": self.before.margin,
            "after": self.after.margin,
            "given_away": self.given_away,
            "best": [str(move) for move in self.before.best],
            "score": self.score.as_dict(),
            "exact": self.before.exact and self.after.exact,
        }


@dataclass(frozen=True, slots=True)
class Line:
    """Best play by both from one position of the match to the end; its first move alone where that is not known."""

    start: Game
    end: Game

    @property
    def plies(self) -> tuple[Ply, ...]:
        """The moves and passes of the line."""
        return self.end.history[len(self.start.history) :]

    def __str__(self) -> str:
        """In notation, numbered as in the match: ``5... c1x 6. d4x -``."""
        return write_moves(self.end.history, skip=len(self.start.history))


@dataclass(frozen=True, slots=True)
class MatchAnalysis:
    """What `analyse_match` found."""

    game: Game
    moves: tuple[MoveAnalysis, ...]
    now: Evaluation
    """What the game is worth as it stands, or what it ended with."""
    line: Line | None
    """What should have been played at the `key_move`, or from here on; None where nothing better was possible."""
    resigned: bool = False
    """Whether a player gave up where the moves end."""
    winner: Colour | None = None
    """Who won by that; None where it is not told."""

    @property
    def exact(self) -> bool:
        """Whether all of it is proven."""
        return self.now.exact and all(move.before.exact for move in self.moves)

    @property
    def turning_point(self) -> MoveAnalysis | None:
        """The last move that changed who wins with best play; None if it never changed."""
        return next((move for move in reversed(self.moves) if move.turned), None)

    @property
    def key_move(self) -> MoveAnalysis | None:
        """The turning point; without one, in a match that is over, the first of the moves that gave away most."""
        if self.turning_point or not self.game.outcome:
            return self.turning_point
        worst = max(self.moves, key=lambda move: move.given_away, default=None)
        return worst if worst and worst.given_away else None

    @property
    def margins(self) -> tuple[int, ...]:
        """The value before the first move, and after each."""
        return (self.moves[0].before.margin if self.moves else self.now.margin, *(m.after.margin for m in self.moves))

    @property
    def sentence(self) -> str:
        """What decided the match, and the best line, for people."""
        told = self._resignation_in_words() + self._key_in_words() + self._line_in_words()
        return told if self.exact else f"{told} This is an estimate: the search was limited in time."

    def _resignation_in_words(self) -> str:
        if not self.resigned:
            return ""
        if self.winner is None:
            return "A player resigned. "
        return f"{str(self.winner.other).capitalize()} resigned, so {str(self.winner).capitalize()} wins. "

    def _key_in_words(self) -> str:
        key = self.key_move
        if key is None and self.game.outcome:
            return f"Nobody gave anything away. {self.game.outcome}."
        if key is None:
            return f"Nothing {'had' if self.resigned else 'has'} turned yet."
        who = f"{str(key.move.colour).capitalize()}'s {key.move.plain} at ply {key.ply}"
        if key.move.ruled:
            return f"The ruling {key.move} at ply {key.ply} turned {_standing(key.before)} into {_standing(key.after)}."
        if key.turned:
            return f"{who} turned {_standing(key.before)} into {_standing(key.after)}."
        return f"{who} gave away most, {key.given_away} of {_standing(key.before)}, but changed nothing about who wins."

    def _line_in_words(self) -> str:
        if self.line is None:
            return ""
        where = "there" if self.key_move else "here"
        return f" With best play from {where}: {self.line}{_ending(self.line.end)}."

    def as_dict(self) -> dict[str, Any]:
        """What ``companion matches analyse --json`` tells of the match, after its moves."""
        turning, winner = self.turning_point, self.now.winner
        return {
            "moves": len(self.moves),
            "over": self.game.outcome is not None,
            "margin": self.now.margin,
            "winner": "draw" if winner is None else str(winner),
            "turning_point": turning.ply if turning else None,
            "best_line": str(self.line) if self.line else None,
            "best_line_from": len(self.line.start.history) + 1 if self.line else None,
            "resigned": str(self.winner.other) if self.resigned and self.winner else None,
            "sentence": self.sentence,
            "exact": self.exact,
        }


def analyse_match(
    match: MatchText,
    analyst: Analyst | None = None,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> MatchAnalysis:
    """Evaluate every position of a match.

    Args:
        match: finished or not.
        analyst: who evaluates.
        progress: told, after each position, how many are done and how many there are.
    """
    analyst = analyst or Analyst()
    states = _states(match.game)
    values: list[Evaluation] = []
    for state in reversed(states):  # the last positions are quick, and what they teach serves those before
        values.append(analyst.evaluate(state))
        if progress:
            progress(len(values), len(states))
    values.reverse()
    moves = tuple(
        _analysed(before, after, values[i], values[i + 1]) for i, (before, after) in enumerate(pairwise(states))
    )
    found = MatchAnalysis(match.game, moves, values[-1], None, match.resigned, match.winner if match.resigned else None)
    return replace(found, line=_best_line(found, states, analyst))


def _states(game: Game) -> list[Game]:
    """The game before each of its moves, and as it is."""
    states = [game.beginning]
    for move in game.history:
        if isinstance(move, Move):
            states.append(states[-1].play(move))
    return states


def _analysed(before: Game, after: Game, value_before: Evaluation, value_after: Evaluation) -> MoveAnalysis:
    ply = len(before.history)
    move = after.history[ply]
    assert isinstance(move, Move)
    return MoveAnalysis(ply + 1, move, value_before, value_after, after.score)


def _best_line(found: MatchAnalysis, states: Sequence[Game], analyst: Analyst) -> Line | None:
    key = found.key_move
    if key is None and found.game.outcome:
        return None
    start = states[found.moves.index(key)] if key else found.game
    end = start
    while end.to_move is not None:
        value = analyst.evaluate(end)
        if end is not start and not (found.exact and value.exact):
            break
        end = end.play(value.best[0])
    return Line(start, end)


def _ending(game: Game) -> str:
    if game.outcome is None:
        return ""
    return f", and {game.outcome}" if game.outcome.winner else f", and it is a draw, {game.score}"


def _standing(value: Evaluation) -> str:
    if value.winner is None:
        return "a draw"
    return f"a win for {value.winner.value.capitalize()} by {abs(value.margin)}"
