"""Which question an answer is meant for: what stood there when it was given, as one short text.

A page may be a moment old, and two people may answer at once. Who answers sends with the answer what was asked; if that
is not asked any more, nothing is done, so that nobody answers a question that he has not read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from companion.events import ChoiceNeeded
    from companion.referee import Problem, Referee
    from companion.rules import Square


def about_choice(question: ChoiceNeeded) -> str:
    """The name of a question with choices: one about other squares, or the same one asked again later, has another."""
    return " ".join([question.question, *map(str, question.squares), f"{question.time:.3f}"])


def about_square(problem: Problem) -> str:
    """The name of what is asked, or told, about the piece on a square."""
    return f"{type(problem.event).__name__} {problem.square} {problem.contents}"


def about_loss(square: Square) -> str:
    """The name of what is told about a piece of the game that is not seen on its square."""
    return f"lost {square}"


def open_now(referee: Referee) -> frozenset[str]:
    """The names of everything that waits for an answer."""
    choice = [about_choice(referee.question)] if referee.question is not None else []
    return frozenset([*choice, *map(about_square, referee.problems), *map(about_loss, referee.disturbed)])
