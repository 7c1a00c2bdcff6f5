"""Perfect play: what every position of a match was worth, which moves kept it, and where it turned.

>>> from companion.analysis import evaluate
>>> from companion.rules import Game
>>> evaluate(Game.start(first="outside")).margin  # Dark wins by one
-1
"""

from companion.analysis.book import BookError
from companion.analysis.evaluation import Analyst, Evaluation, evaluate
from companion.analysis.match import Line, MatchAnalysis, MoveAnalysis, analyse_match
from companion.analysis.plot import margin_bars, margin_svg
from companion.analysis.strength import choose_move

__all__ = [
    "Analyst",
    "BookError",
    "Evaluation",
    "Line",
    "MatchAnalysis",
    "MoveAnalysis",
    "analyse_match",
    "choose_move",
    "evaluate",
    "margin_bars",
    "margin_svg",
]
