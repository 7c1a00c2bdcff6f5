"""What players, pieces, squares and boards are called on the page, in the reader's language."""

from __future__ import annotations

from typing import TYPE_CHECKING

from companion.rules import Colour, Kind, Piece
from companion.web.language import _

if TYPE_CHECKING:
    from companion.rules import Content
    from companion.table import TableView
    from companion.web.drawing import Spot


_WORD_JOINER = "\u2060"
_SHORT = 16
"""A name of more letters may be broken after a hyphen."""


def player(view: TableView, colour: Colour) -> str:
    """A player's name, or the colour. A short name with a hyphen stays on one line."""
    name = view.players.light if colour is Colour.LIGHT else view.players.dark
    if len(name) > _SHORT:
        return name
    return name.replace("-", f"{_WORD_JOINER}-{_WORD_JOINER}") or colour_name(colour)


def as_written(told: str) -> str:
    """`told` with the names in it as they were written, for whoever does not break it into lines."""
    return told.replace(_WORD_JOINER, "")


def colour_name(colour: Colour) -> str:
    """The colour as a player's name."""
    return _("Light") if colour is Colour.LIGHT else _("Dark")


def kind_name(kind: Kind) -> str:
    """What a kind of piece is called."""
    return {
        Kind.STRAIGHT: _("straight"),
        Kind.DIAGONAL: _("diagonal"),
        Kind.PUSHER: _("pusher"),
        Kind.PULLER: _("puller"),
    }[kind]


def content_name(content: Content) -> str:
    """What lies on a square. Each piece is a text of its own, for in some languages its colour follows its kind."""
    return {
        None: _("nothing"),
        Piece(Colour.LIGHT, Kind.STRAIGHT): _("light straight"),
        Piece(Colour.LIGHT, Kind.DIAGONAL): _("light diagonal"),
        Piece(Colour.LIGHT, Kind.PUSHER): _("light pusher"),
        Piece(Colour.LIGHT, Kind.PULLER): _("light puller"),
        Piece(Colour.DARK, Kind.STRAIGHT): _("dark straight"),
        Piece(Colour.DARK, Kind.DIAGONAL): _("dark diagonal"),
        Piece(Colour.DARK, Kind.PUSHER): _("dark pusher"),
        Piece(Colour.DARK, Kind.PULLER): _("dark puller"),
    }[content]


def layout_name(name: str) -> str:
    """What a board is called; one that was drawn has no name."""
    called = {"ring": _("ring"), "stairs": _("stairs"), "corners": _("corners")}
    return called.get(name, name if "/" not in name else _("this one"))


def spot(spot: Spot) -> str:
    """What a person who cannot see the board is told of a square."""
    piece = content_name(spot.stray or spot.piece)
    if spot.doubtful:
        return _("%(square)s: unclear", square=spot.name)
    if spot.stray:
        return _("%(square)s: %(piece)s, not legal", square=spot.name, piece=piece)
    if spot.missing:
        return _("%(square)s: %(piece)s is missing", square=spot.name, piece=piece)
    if spot.piece and spot.last:
        return _("%(square)s: %(piece)s, played last", square=spot.name, piece=piece)
    if spot.piece:
        return f"{spot.name}: {piece}"
    return _("%(square)s: legal", square=spot.name) if spot.legal else _("%(square)s: empty", square=spot.name)
