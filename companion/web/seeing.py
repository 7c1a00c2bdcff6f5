"""Why the board is not found: what `companion.vision` says, in the reader's language.

What it says are whole sentences, made for a terminal; here each has its translation. A sentence that is not known here
is shown as it is.
"""

from __future__ import annotations

import re

from companion.web.language import _

_AS_TOLD = re.compile(r"the board is not found: (.+?)(; give its corners)?")
"""How a camera tells it; the page says so in its heading."""
_OTHER_LAYOUT = re.compile(r"no board here: nothing in the picture is clearly a board of the layout .*")
_ANOTHER_BOARD = re.compile(r"what is here may be another board, or a part of one: .*")
_COVERED = re.compile(r"a hand or something else covers the board's (.+) corner; take it away, or give .*")


def why_not_found(told: str) -> str:
    """What a camera tells of a board that is not found, in the reader's language."""
    by_camera = _AS_TOLD.fullmatch(told)
    told = by_camera[1] if by_camera else told
    covered = _COVERED.fullmatch(told)
    if covered is not None:
        corner = _corners().get(covered[1], covered[1])
        return _("%(corner)s of the board is covered; take away what covers it.", corner=corner)
    if _ANOTHER_BOARD.fullmatch(told):
        return _("What is here may be another board, or a part of one. Is it the board of this match?")
    return _nowhere() if _OTHER_LAYOUT.fullmatch(told) else _sentences().get(told, told)


def _nowhere() -> str:
    return _("There is no board here: nothing in the picture is clearly one.")


def _corners() -> dict[str, str]:
    return {
        "upper": _("The upper corner"),
        "lower": _("The lower corner"),
        "left": _("The left corner"),
        "right": _("The right corner"),
        "upper left": _("The upper left corner"),
        "upper right": _("The upper right corner"),
        "lower left": _("The lower left corner"),
        "lower right": _("The lower right corner"),
    }


def _sentences() -> dict[str, str]:
    return {
        "looking for the board": _("Looking for the board."),
        "the board is covered, or has just been moved": _("The board is covered, or has just been moved."),
        "no board here: nothing in the picture has the board's lines": _nowhere(),
        "no board here: nothing in the picture is clearly a board of four by four squares": _nowhere(),
        "what may be a board is seen badly, or hidden in part; move closer, make more light, or give its corners": _(
            "What may be the board is seen badly, or hidden in part. Move the camera closer, or make more light."
        ),
        "the board is too small in the picture; move the camera closer": _(
            "The board is too small in the picture. Move the camera closer."
        ),
    }
