"""The game against what lies on the board: the one state machine of a match at a table, and nothing else.

A `Referee` takes snapshots of the board and what people decide, and answers with events.
"""

from companion.referee.patience import Patience
from companion.referee.problems import Problem
from companion.referee.referee import Referee

__all__ = ["Patience", "Problem", "Referee"]
