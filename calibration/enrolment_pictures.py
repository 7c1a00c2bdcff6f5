"""Whether a set can be enrolled from two pictures: the empty board, and the sixteen pieces in their arrangement.

Pictures that nothing good can be learnt from are refused, each in one line: a board that is not empty, a square of the
arrangement without its piece, the same picture twice; a hand over either, and, of pieces with marks, an arrangement
that is turned, or is another one, unless the owner says that it only looks like that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from calibration.enrolment import ARRANGEMENT, EnrolmentError
from companion.readings import EMPTY
from companion.rules import Colour, Kind
from companion.vision.faces import DARK, LIGHT
from companion.vision.pieces import COVERED
from companion.vision.rectify import away_side, patches, rectify

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from calibration.composing import LocatedPicture
    from companion.readings import Contents
    from companion.rules import Layout, Square
    from companion.vision.pieces import Recogniser

_SAME = 2.0
"""Grey levels by which some square differs at least, if two pictures are not one."""
_SIDES = ("near", "right", "far", "left")
_OR_DARKER = "; if Light's are the darker ones, add --light-is-darker"
_EXCHANGED = 2
"""Quarter turns after which the arrangement looks as if the players had exchanged their colours."""
_KNOWN, _MANY, _HARDLY_ANY = 0.9, 8, 1
"""Marks of which the recogniser is so sure are known; half of the pieces are many, and one may always be misread."""
_SURELY_COVERED = 0.9
"""Of sixty drawn sets no bare square and no piece looks covered by more than 0.17."""
_NEARLY_ALL = 14
"""Where so many marks are known, it can be told whether they are those of a whole set."""
_OF_A_KIND = 2
"""No set has more of a kind and colour; and two pieces at least lie otherwise, if any does."""
_ON_TOP = slice(21, 51)
"""Where a patch shows the top of the piece on its square, or most of it."""
_MOST_OF_IT = 0.6
"""So much of a piece has its player's colour, however large its mark."""
_TELLING = 40.0
"""Grey levels by which the colours of the players differ at least, if they tell anything."""


@dataclass(frozen=True, slots=True)
class EnrolmentPicture:
    """What one of the two pictures shows on each square of the board."""

    name: str
    layout: Layout
    squares: NDArray[np.int64]
    """The `patches` of the flattened board, as levels that can be subtracted."""
    said: NDArray[np.float32]
    """How likely each content is, looked at in the mirror as well; see `Recogniser.recognise`."""
    contents: tuple[Contents, ...]
    """What each square may hold."""

    @classmethod
    def seen(cls, name: str, located: LocatedPicture, layout: Layout, recogniser: Recogniser) -> Self:
        """What the recogniser sees in the picture called `name`."""
        image, pose = located
        corners = pose.points()
        view = rectify(image, corners, layout)
        said = recogniser.recognise(patches(view, layout, away_side(corners, layout)), mirror_too=True)
        return cls(name, layout, patches(view, layout).astype(np.int64), said, recogniser.contents(said))


def refuse_bad_pictures(empty: EnrolmentPicture, pieces: EnrolmentPicture, *, anyway: bool = False) -> None:
    """Say in one line that they do not show the empty board, and a piece on every square of it, if so.

    With `anyway` squares may look covered that are not.

    Raises:
        EnrolmentError: which picture, and what to do.
    """
    if float(np.abs(empty.squares - pieces.squares).mean(axis=(1, 2, 3)).max()) < _SAME:
        raise EnrolmentError(f"{empty.name} and {pieces.name} show the same; one has to show the board without pieces")
    if not anyway:
        _refuse_covered(empty)
        _refuse_covered(pieces)
    occupied = [str(s) for s, seen in zip(empty.layout, empty.contents, strict=True) if not seen & EMPTY]
    if occupied:
        raise EnrolmentError(f"{empty.name} has to show the empty board, but something is on {' '.join(occupied)}")
    missing = [str(s) for s, seen in zip(pieces.layout, pieces.contents, strict=True) if seen == EMPTY]
    if missing:
        raise EnrolmentError(f"{pieces.name} has to show all sixteen pieces, but none is on {' '.join(missing)}")


def _refuse_covered(picture: EnrolmentPicture) -> None:
    likely = picture.said[:, COVERED]
    covered = [str(s) for s, share in zip(picture.layout, likely, strict=True) if share >= _SURELY_COVERED]
    if covered:
        raise EnrolmentError(
            f"something lies over {' '.join(covered)} in {picture.name}: take it again with no hand over the board; if "
            "it only looks like that, add --anyway"
        )


def refuse_other_arrangement(
    empty: EnrolmentPicture, pieces: EnrolmentPicture, brighter: Colour, *, anyway: bool = False
) -> None:
    """Say in one line that the pieces, which have marks, do not lie in the arrangement, if so.

    `brighter` is whose pieces are the brighter ones. With `anyway` marks, and colours within a player's pieces, may
    mean something else than they look like.

    Raises:
        EnrolmentError: how they lie, and what to do.
    """
    _refuse_turned(pieces, brighter)
    if anyway:
        return
    if _is_mirrored(pieces.said, pieces.layout):
        raise EnrolmentError(
            f"the arrangement in {pieces.name} is seen as in a mirror: switch that off in the camera, or lay rows from "
            "left to right; if these marks only look like that, add --anyway"
        )
    if found := _lies_otherwise(pieces.said, pieces.layout):
        square, kind, belongs = found
        raise EnrolmentError(
            f"the pieces in {pieces.name} do not lie in the standard arrangement: on {square} there is a {kind}, where "
            f"a {belongs} belongs; see companion calibrate enrol --help. If these marks only look like that, add "
            "--anyway"
        )
    if exchanged := _exchanged(empty.squares, pieces.squares, pieces.layout):
        where = " ".join(map(str, exchanged))
        raise EnrolmentError(
            f"the pieces in {pieces.name} do not lie in the standard arrangement: those on {where} have the "
            "other player's colour; rows 1 and 2 are Light's, rows 3 and 4 Dark's. If they only look like that, add "
            "--anyway"
        )


def _refuse_turned(pieces: EnrolmentPicture, brighter: Colour) -> None:
    lightness = pieces.said[:, LIGHT].sum(axis=1) - pieces.said[:, DARK].sum(axis=1)
    turns = _turns(lightness if brighter is Colour.LIGHT else -lightness, pieces.layout)
    if turns:
        raise EnrolmentError(
            f"the arrangement in {pieces.name} is turned: the light pieces lie on the {_SIDES[turns]} side of the "
            "picture, not on Light's; take it from Light's side, or give --corners from Light's a1"
            + (_OR_DARKER if turns == _EXCHANGED and brighter is Colour.LIGHT else "")
        )


def _turns(lightness: NDArray[np.floating], layout: Layout) -> int:
    """By how many quarter turns, counter-clockwise, the light half lies away from Light; 0 if that is not clear."""
    board = lightness.reshape(layout.rows, layout.columns)
    expected = np.array([1.0 if piece.colour is Colour.LIGHT else -1.0 for piece in ARRANGEMENT])
    wanted = expected.reshape(layout.rows, layout.columns)
    fits = [float((np.rot90(wanted, -turn) * board).mean()) for turn in range(4)]
    best = int(np.argmax(fits))
    return best if fits[best] > 0.6 and fits[best] > fits[0] + 0.6 else 0  # noqa: PLR2004 (of 1 for all sixteen)


def _is_mirrored(said: NDArray[np.float32], layout: Layout) -> bool:
    """Whether the marks that the recogniser knows fit the arrangement seen in a mirror, and not as it should lie."""
    seen, wanted = _kinds_known(said)
    mirrored = wanted.reshape(layout.rows, layout.columns)[:, ::-1].ravel()
    return bool((seen == mirrored).sum() >= _MANY and (seen == wanted).sum() <= _HARDLY_ANY)


def _kinds_known(said: NDArray[np.float32]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The kinds that the recogniser surely sees on each square, -1 for none, and those of the arrangement."""
    kinds = said[:, LIGHT] + said[:, DARK]
    seen = np.where(kinds.max(axis=1) >= _KNOWN, kinds.argmax(axis=1), -1)
    return seen, np.array([list(Kind).index(piece.kind) for piece in ARRANGEMENT])


def _lies_otherwise(said: NDArray[np.float32], layout: Layout) -> tuple[Square, Kind, Kind] | None:
    """Where the known marks of a whole set lie otherwise than in the arrangement: what lies there, and what should.

    Unknown marks that look like others do not count: of some kind there are more than a set has.
    """
    seen, wanted = _kinds_known(said)
    of_light = np.array([piece.colour is Colour.LIGHT for piece in ARRANGEMENT])
    most = max((seen[half] == kind).sum() for half in (of_light, ~of_light) for kind in range(len(Kind)))
    if (seen >= 0).sum() < _NEARLY_ALL or most > _OF_A_KIND:
        return None
    others = np.flatnonzero((seen >= 0) & (seen != wanted))
    if len(others) < _OF_A_KIND:
        return None
    kinds, first = list(Kind), int(others[0])
    return layout.squares[first], kinds[seen[first]], kinds[wanted[first]]


def _exchanged(empty: NDArray[np.integer], cut: NDArray[np.integer], layout: Layout) -> tuple[Square, ...]:
    """The squares of both players on which most of what `patches` show has the other player's colour.

    And has it still where as much light falls on every square, as far as their empty ones tell. Players whose pieces
    have hardly other colours are not told apart.
    """
    light = empty[:, _ON_TOP, _ON_TOP].mean(axis=(1, 2, 3)) + 1.0
    tops = cut[:, _ON_TOP, _ON_TOP].reshape(len(cut), -1, 3)
    of_light = np.array([piece.colour is Colour.LIGHT for piece in ARRANGEMENT])
    strange = _as_the_others(tops, of_light) & _as_the_others(tops * (light.mean() / light)[:, None, None], of_light)
    if not (strange & of_light).any() or not (strange & ~of_light).any():
        return ()
    return tuple(layout.squares[i] for i in np.flatnonzero(strange))


def _as_the_others(tops: NDArray[Any], of_light: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which `tops`, `(16, pixels, 3)`, mostly have the colour of the other half; none if both have the same."""
    bodies = [np.median(tops[half].reshape(-1, 3), axis=0) for half in (of_light, ~of_light)]
    if np.linalg.norm(bodies[0] - bodies[1]) < _TELLING:
        return np.zeros(len(tops), np.bool_)
    away = [np.linalg.norm(tops - body, axis=2) for body in bodies]
    like_dark = (away[0] > away[1]).mean(axis=1)
    return np.asarray(np.where(of_light, like_dark, 1 - like_dark) > _MOST_OF_IT)
