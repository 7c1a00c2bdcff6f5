"""What a table has to say, in the order of its importance: one headline, one reason, and notices that nobody may miss.

Everything is told from the view alone, so whoever comes late, or back, is told the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from companion import events
from companion.readings import possible
from companion.rules import Move, Pass, parse_moves
from companion.saying import Saying, parted
from companion.web import questions, reasons
from companion.web.language import _, closed, sentence, told
from companion.web.names import as_written, content_name, kind_name, player

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from companion.events import ChoiceNeeded
    from companion.fusion import Disagreement
    from companion.referee import Problem
    from companion.rules import Content, Square
    from companion.table import TableView


_TOLD_ALONE = 2
"""Of so many missing pieces each is told by itself."""


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that people have to be told at once."""

    kind: str
    """``pass``, ``chance``, ``wrong``, ``ask``, ``trouble`` or ``note``: how it looks."""
    title: str
    text: str = ""
    square: Square | None = None
    answers: tuple[Content, ...] = ()
    """What a person may say that `square` holds."""
    acceptable: bool = False
    """A referee may rule that the piece on `square` counts: as one of `answers`, if there are any."""
    choices: tuple[tuple[str, str], ...] = ()
    """Answers to the open question, each with its words."""
    asked: str = ""
    """What an answer says that it is for (`companion.web.questions`)."""


def headline(view: TableView) -> str:
    """The state of the match in a few words: whose turn it is, or how it ended."""
    if view.over:
        return _result(view)
    if view.paused:
        return _("Paused")
    assert view.game.to_move is not None
    return _("%(player)s to play", player=player(view, view.game.to_move))


def reason(view: TableView) -> str:
    """Why the legal squares are legal; or what follows the end."""
    if view.over:
        return " ".join(_after_the_end(view))
    if view.paused:
        return _nothing_counts()
    return reasons.rule(view)


def spoken(view: TableView) -> str:
    """What a screen reader says when something changes."""
    last = view.game.last_move
    news = list(dict.fromkeys(closed(str(notice.title)) for notice in notices(view)))
    if last is not None and last.colour is not None:
        kind = kind_name(last.kind)
        news.insert(0, _("%(player)s: %(kind)s at %(square)s.", player=player(view, last.colour), kind=kind,
                         square=str(last.square)))  # fmt: skip
    return as_written(" ".join([*news, closed(headline(view)), reason(view)]))


def notices(view: TableView) -> list[Notice]:
    """All that has to be told now, the most pressing first."""
    return [*_troubles(view), *_questions(view), *_wrongs(view), *_turning_points(view)]


def troubles(view: TableView) -> list[Notice]:
    """What keeps a table from being followed, for those who look at many."""
    return [notice for notice in _troubles(view) if notice.kind == "trouble"]


def _result(view: TableView) -> str:
    score = view.game.score
    if view.winner is None:
        return _("A draw, %(points)s all", points=score.light)
    if view.resigned is not None:
        return _("%(player)s wins", player=player(view, view.winner))
    mine, yours = score.of(view.winner), score.of(view.winner.other)
    return _("%(player)s wins, %(mine)s to %(yours)s", player=player(view, view.winner), mine=mine, yours=yours)


def _after_the_end(view: TableView) -> Iterator[str]:
    """Why the match is over, and how the next one begins, if that is by what is done on the board."""
    if view.resigned is not None:
        yield _("%(player)s resigned.", player=player(view, view.resigned))
    elif view.ended:
        yield _("The recording is over.")
    else:
        yield _("The game is over.")
    if view.ended or view.recorded:
        return
    if view.paused:
        yield _nothing_counts()
    elif view.cleared:
        yield _("The next game begins with its first piece.")
    else:
        yield _("Clear the board to begin the next game.")


def _nothing_counts() -> str:
    return _("What lies on the board decides nothing until the referee goes on.")


def _troubles(view: TableView) -> Iterator[Notice]:
    if view.broken:
        yield Notice(
            "trouble", _("This table has stopped"), _("Start the program again: %(why)s", why=told(view.broken))
        )
    elif view.lost:
        yield Notice("trouble", _("The board cannot be seen"), sentence(view.lost))
    elif view.trouble:
        yield Notice("trouble", _unclear(view.trouble) or _not_seen(view.trouble), _why(view.trouble))
    elif view.unseen:
        covered = ", ".join(map(str, sorted(view.unseen)))
        why = _("Take away what covers %(squares)s: the whole board has to be seen once.", squares=covered)
        yield Notice("trouble", _("Part of the board is covered"), why)
    elif view.unread:
        squares = ", ".join(map(str, sorted(view.unread)))
        why = _(
            "What lies on %(squares)s cannot be seen yet. Try other light, or say it by the referee's hand.",
            squares=squares,
        )
        yield Notice("trouble", _not_clear(several=len(view.unread) > 1), why)
    elif view.out_of_sight:
        covered = ", ".join(map(str, sorted(view.out_of_sight)))
        why = _("Something covers %(squares)s or moves there: what is played there is told when it has gone.",
                squares=covered)  # fmt: skip
        yield Notice("note", _("Part of the board is covered"), why)
    for source, why in view.absent:
        title = _unclear(why) or _("%(source)s does not help now", source=source)
        yield Notice("note", title, sentence(why))
    yield from _unkept(view)
    if view.ended and not view.over:
        yield Notice("note", _("The recording has ended"))


def _unkept(view: TableView) -> Iterator[Notice]:
    if view.unrecorded:
        yield Notice(
            "trouble", _("Not recorded"), _("Play goes on, but is not kept: %(why)s", why=told(view.unrecorded))
        )
    if view.never_recorded:
        why = _("A part of what was played is not kept, and never will be: %(why)s", why=told(view.never_recorded))
        yield Notice("trouble", _("Not recorded"), why)


def _unclear(trouble: str) -> str:
    """What to call a trouble that is about some squares of a board that is there; empty if it is about the board."""
    said = [part.values for part in parted(trouble) if isinstance(part, Saying)]
    squares = ", ".join(str(values["squares"]) for values in said if "squares" in values)
    if not squares:
        return ""
    return _not_clear(several="," in squares)


def _not_seen(trouble: str) -> str:
    """What to call a trouble that is about the board, or about the picture that it is in."""
    found_out = [part for part in parted(trouble) if not isinstance(part, Saying) or "why" in part.values]
    return _("The board is not found") if found_out else _("The board cannot be seen")


def _not_clear(*, several: bool) -> str:
    return _("Some squares are not clear") if several else _("A square is not clear")


def _why(trouble: str) -> str:
    """What a camera tells of a board that is not found, without what helps whoever starts the program."""
    return " ".join(sentence(_innermost(part)) for part in parted(trouble))


def _innermost(reason: str) -> str:
    while isinstance(reason, Saying) and isinstance(why := reason.values.get("why"), str):
        reason = why
    return reason


def _questions(view: TableView) -> Iterator[Notice]:
    asked = view.question
    if asked is None:
        return
    words = {"resume": _("Go on with the game"), "join": _("Join the game as it lies"), "new": _("Begin a new match")}
    lying = ", ".join(map(str, asked.squares))
    whose = (
        _("Which game do these pieces belong to?"),
        _("What lies on %(squares)s may be left of the last one, or begin the next.", squares=lying),
    )
    between = view.over or not any(view.game.contents)
    if asked.question == "start" and between:
        words["resume"] = _("They are left over")
    if asked.question == "correct":
        words["resume"] = _("Leave the game as it was")
    order = _("In which order?"), _("Several pieces came at once, and more than one order is legal.")
    if lifted := sorted(view.disturbed & _squares_in(asked)):
        squares = ", ".join(map(str, lifted))
        order = (
            _("Only lifted, or played elsewhere?"),
            _("%(squares)s: put back what was only lifted, or say what was played.", squares=squares),
        )
    title, text = {
        "order": order,
        "start": whose
        if between
        else (_("This is not the game that was being played"), _("What shall be done with what lies here?")),
        "new": (_("The board has been cleared"), _("Is this the end of the game?")),
        "correct": (
            _("The correction makes later moves illegal"),
            _(
                "Nothing is corrected yet. To let %(moves)s count, correct the move again and say so.",
                moves=", ".join(asked.illegal),
            ),
        ),
    }[asked.question]
    choices = tuple((choice, words.get(choice, choice)) for choice in asked.choices)
    yield Notice("ask", title, text, choices=choices, asked=questions.about_choice(asked))


def _squares_in(asked: ChoiceNeeded) -> set[Square]:
    """The squares of all moves that are to choose from, where these are orders of moves."""
    if asked.question != "order":
        return set()
    return {ply.square for order in asked.choices for ply in parse_moves(order) if isinstance(ply, Move)}


def _wrongs(view: TableView) -> Iterator[Notice]:
    for problem in view.problems:
        yield replace(_wrong(view, problem), asked=questions.about_square(problem))
    if view.to_lift:
        lying = ", ".join(map(str, sorted(view.to_lift)))
        title = _("The next game has not begun") if view.over else _("Clear away what was played before")
        yield Notice("note", title, _("Lift the pieces on %(squares)s.", squares=lying))
    asked = {problem.square for problem in view.problems}
    for other in view.disagreements:
        if other.square not in asked:
            title = _("What lies on %(square)s?", square=str(other.square))
            yield Notice("ask", title, _said(other), other.square, other.contents)
    yield from _losses(view, asked)


def _losses(view: TableView, asked: Container[Square]) -> Iterator[Notice]:
    """What has to be put back; of few pieces each by itself, as a person may know that it is there.

    Of those that are `asked` about already nothing more can be said.
    """
    lying = [(square, view.game.content(square)) for square in sorted(view.disturbed)]
    title = _("Something has moved")
    if len(lying) > _TOLD_ALONE:
        wanted = ", ".join(f"{square} {content_name(content)}" for square, content in lying)
        yield Notice("wrong", title, _("Put back: %(wanted)s", wanted=wanted))
        return
    for square, content in lying:
        text = _("Put back: %(wanted)s", wanted=f"{square} {content_name(content)}")
        answers = () if square in asked else (content,)
        yield Notice("wrong", title, text, square, answers, asked=questions.about_loss(square))


def _said(told: Disagreement) -> str:
    """What each source says that lies on a square."""
    return "; ".join(f"{source}: {' / '.join(map(content_name, possible(contents)))}" for source, contents in told.said)


def _wrong(view: TableView, problem: Problem) -> Notice:
    square, event = problem.square, problem.event
    answers = tuple(content for content in possible(problem.contents) if content is not None)
    if isinstance(event, events.IllegalPlacement):
        why, acceptable = reasons.refusal(view, event), event.reason != "over"
        if len(answers) > 1:
            title = _("Not legal: the piece on %(square)s", square=str(square))
            return Notice("wrong", title, why, square, answers if acceptable else (), acceptable=acceptable)
        title = _("Not legal: %(piece)s on %(square)s", piece=content_name(event.content), square=str(square))
        return Notice("wrong", title, why, square, acceptable=acceptable)
    if isinstance(event, events.KindNeeded):
        return Notice("ask", _("Which kind is it on %(square)s?", square=str(square)), "", square, answers)
    return Notice("ask", _("What lies on %(square)s?", square=str(square)), "", square, (*answers, None))


def _turning_points(view: TableView) -> Iterator[Notice]:
    if view.resigned is not None:
        return
    game = view.game
    passed = game.history[-1] if game.history and isinstance(game.history[-1], Pass) else None
    if passed is not None and passed.colour is not None:
        who = player(view, passed.colour)
        if None not in game.contents:
            yield Notice("chance", _("The board is full"), _("Neither player has a square left."))
        elif game.to_move is None:
            yield Notice("chance", _("%(player)s's last chance is forfeited", player=who), _("No square was legal."))
        else:
            again = _("No square is legal. %(player)s plays again, on any empty square.",
                      player=player(view, passed.colour.other))  # fmt: skip
            yield Notice("pass", _("%(player)s must pass", player=who), again)
    if game.last_chance and game.to_move is not None:
        who, other = player(view, game.to_move), player(view, game.to_move.other)
        text = _("%(player)s has placed the last piece. One more, then the game ends.", player=other)
        yield Notice("chance", _("%(player)s's last chance", player=who), text)
