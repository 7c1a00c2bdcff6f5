"""The game of Mijnlieff: pure values, no clock, no input or output.

>>> from companion.rules import Game
>>> game = Game.start(first="outside").play("a1+")
>>> game.to_move.value, sorted(map(str, game.legal_squares()))
('dark', ['a2', 'a3', 'a4', 'b1', 'c1', 'd1'])
"""

from companion.errors import LayoutError, NotationError, RulesError
from companion.rules.constraint import Constraint
from companion.rules.game import FirstMove, Game, IllegalMoveError, Outcome, RefusalReason
from companion.rules.layout import Layout, Square
from companion.rules.matchtext import MatchText, Variant
from companion.rules.notation import Move, Pass, Ply, parse_move, parse_moves, write_moves
from companion.rules.pieces import MOST_SETS, PIECES_PER_KIND_AND_SET, Colour, Content, Kind, Piece
from companion.rules.position import Position
from companion.rules.score import Line, Score, score_of

__all__ = [
    "MOST_SETS",
    "PIECES_PER_KIND_AND_SET",
    "Colour",
    "Constraint",
    "Content",
    "FirstMove",
    "Game",
    "IllegalMoveError",
    "Kind",
    "Layout",
    "LayoutError",
    "Line",
    "MatchText",
    "Move",
    "NotationError",
    "Outcome",
    "Pass",
    "Piece",
    "Ply",
    "Position",
    "RefusalReason",
    "RulesError",
    "Score",
    "Square",
    "Variant",
    "parse_move",
    "parse_moves",
    "score_of",
    "write_moves",
]
