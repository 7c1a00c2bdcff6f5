"""Why the legal squares are legal, and why a piece is not: what `companion.rules` says, in the reader's language."""

from __future__ import annotations

from typing import TYPE_CHECKING

from companion.web.language import _, told
from companion.web.names import kind_name, player

if TYPE_CHECKING:
    from companion.events import IllegalPlacement
    from companion.table import TableView


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
        return told(game.constraint.explain(game.layout))
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
