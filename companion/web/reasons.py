"""Why the legal squares are legal, and why a piece is not: what `companion.rules` says, in the reader's language."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from companion.rules import Kind
from companion.web.language import _
from companion.web.names import kind_name, player

if TYPE_CHECKING:
    from companion.events import IllegalPlacement
    from companion.rules import Constraint
    from companion.table import TableView


_NO_PIECE = re.compile(r"no piece is seen on (\w+); say which piece it is")
_WHICH_PIECE = re.compile(r"what lies on (\w+) is not clear; say which piece it is")
_NOT_CLEAR = re.compile(r"what lies on (\w+) is not clear; say what it is, then join again")
_NO_PLATES = re.compile(r"2x2 boards cannot tile this layout: no board fits at (\w+) without overlap; .*")
_NO_DRAWING = re.compile(r".* is neither a layout's name .* nor a drawing: .*")


def refused(told: str) -> str:
    """Why a deed of the referee's hand cannot be done; what is not known here is shown as it is."""
    if found := _NO_PIECE.fullmatch(told):
        return _("No piece is seen on %(square)s. Say which piece it is.", square=found[1])
    if found := _WHICH_PIECE.fullmatch(told):
        return _("What lies on %(square)s is not clear. Say which piece it is.", square=found[1])
    if found := _NOT_CLEAR.fullmatch(told):
        return _("What lies on %(square)s is not clear. Say what it is, then join again.", square=found[1])
    if found := _NO_PLATES.fullmatch(told):
        return _("A board is made of 2x2 plates that do not overlap: none fits at %(square)s.", square=found[1])
    if _NO_DRAWING.fullmatch(told):
        return _("This is no drawing of a board: write # for a square and . for none.")
    return {
        "the match is over already": _("The match is over already."),
        "nothing is asked right now": _("Nothing is asked right now."),
        "there is no move to take back": _("There is no move to take back."),
        "the board is empty, so it is Light's turn": _("The board is empty, so it is Light's turn."),
    }.get(told) or _(told)


def explanation(view: TableView) -> str:
    """Why the legal squares are legal, and whether it is the last chance; for a game that goes on."""
    game = view.game
    if not game.last_chance or game.to_move is None:
        return rule(view)
    return _("%(player)s's last chance. %(rule)s", player=player(view, game.to_move), rule=rule(view))


def rule(view: TableView) -> str:
    """Why the legal squares are legal; for a game that goes on."""
    game = view.game
    assert game.to_move is not None
    if game.constraint is not None:
        bound = _bound(game.constraint)
        cut_short = game.constraint.is_cut_short(game.layout)
        return _("%(rule)s, not across a gap", rule=bound) if cut_short else bound
    if game.free_play:
        return _("Free play after %(player)s's pass: any empty square", player=player(view, game.to_move.other))
    return _("First move: any outside square") if game.first == "outside" else _("First move: any square")


def refusal(view: TableView, event: IllegalPlacement) -> str:
    """Why the piece that `event` tells of may not lie where it lies."""
    game = view.game
    if event.reason == "over" or game.to_move is None:
        return _("The game is over.")
    if event.reason == "square":
        what = _("%(square)s is not legal.", square=str(event.square))
    elif event.reason == "turn":
        what = _("It is %(player)s's turn.", player=player(view, game.to_move))
    else:
        what = _(
            "%(player)s has no %(kind)s left.",
            player=player(view, event.content.colour),
            kind=kind_name(event.content.kind),
        )
    legal = " ".join(map(str, event.legal))
    return _("%(what)s %(why)s (%(squares)s).", what=what, why=rule(view), squares=legal)


def _bound(constraint: Constraint) -> str:
    """What the last piece asks of the next one."""
    square = str(constraint.square)
    if constraint.kind is Kind.STRAIGHT:
        row = constraint.square.row + 1
        return _("Straight at %(square)s: row %(row)s or column %(column)s", square=square, row=row, column=square[0])
    return {
        Kind.DIAGONAL: _("Diagonal at %(square)s: a diagonal through %(square)s", square=square),
        Kind.PUSHER: _("Pusher at %(square)s: a square not touching %(square)s", square=square),
        Kind.PULLER: _("Puller at %(square)s: a square touching %(square)s", square=square),
    }[constraint.kind]
