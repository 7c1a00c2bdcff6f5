"""What a picture of the board is worth before a game, and what to improve.

One picture is looked at: whether the board is found, how many pixels a square has, from how far aside it is seen,
whether it is lit, sharp and free of glare, whether its squares can be read, and the pieces that lie there; and, with an
enrolled set, which kinds look alike, or whether its cubes do.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import cv2
import numpy as np

from companion.readings import ALL_CONTENTS, ANYTHING, EMPTY, colours_only, of_colour, only
from companion.rules import Colour
from companion.vision.cubes import CubeLook
from companion.vision.enrolled import Look
from companion.vision.faces import FaceMatcher, best_of_content, by_content, by_kind
from companion.vision.legible import sharpness
from companion.vision.levels import BURNT, darkest
from companion.vision.pose import BoardNotFound
from companion.vision.rectify import PATCH, SQUARE, patches, pixels_per_square, rectify

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from companion.profile import Profile
    from companion.readings import Contents
    from companion.rules import Layout
    from companion.vision.cubes import ColourScale
    from companion.vision.pose import BoardPose

LEAST_PIXELS: Final = 30
LEAST_SHORTENING: Final = 0.5
"""Depth over breadth of the board as seen: the cosine of 60 degrees from straight above."""
DARKEST: Final = 40
LEAST_EVEN: Final = 0.2
"""How bright the darkest quarter of the board is, beside the brightest."""
MOST_GLARE: Final = 0.04
"""Share of the board that is burnt out."""
LEAST_SHARPNESS: Final = 0.18
"""See `companion.vision.legible.sharpness`; pictures below 0.14 are not read at all."""
LEAST_APART: Final = 0.1
FAR_APART: Final = 4.0
"""See `companion.vision.cubes.ColourScale`."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    what: str
    found: str
    good: bool
    improve: str = ""
    """What to do; empty if all is well."""


_AS_PIECES: Final = Finding(
    "set", "cubes that were enrolled as pieces with marks", good=False, improve="Enrol the cubes again."
)

_ENROL_PIECES: Final = (
    "Marks that are not those of the kit have to be enrolled first: companion calibrate enrol --help. Plain cubes are "
    "read with --variant green-box."
)
_ENROL_CUBES: Final = "Give them other light, or enrol them: companion calibrate enrol --variant green-box."


def examine(
    image: NDArray[np.uint8],
    pose: BoardPose | BoardNotFound,
    layout: Layout,
    profile: Profile | None,
    *,
    sought: bool = True,
    squares: Sequence[Contents] = (),
    plain: bool = False,
) -> Iterator[Finding]:
    """What can be said about a picture with the board at `pose`; nothing more if it was `sought` and is not found.

    `squares` is what was read there; of `plain` cubes only the colours count.
    """
    if isinstance(pose, BoardNotFound):
        how = "give its corners with --corners" if sought else "give its corners anew"
        yield Finding("board", pose.why, good=False, improve=f"Show the whole board, or {how}.")
        return
    yield Finding("board", "found" if sought else "not looked for, its corners are given", good=True)
    points = pose.points()
    yield _size(pixels_per_square(points, layout))
    yield _tilt(points, layout)
    top_view = rectify(image, points, layout)
    yield from light(top_view, layout)
    yield _sharp(sharpness(top_view, layout))
    if squares:
        yield _told(squares)
        enrolled = profile is not None and (profile.enrolment is not None or profile.cubes is not None)
        yield from _pieces_told(squares, plain=plain, enrolled=enrolled)
    if profile is not None:
        called = f"{profile.name}: " if profile.name else ""
        yield from (replace(finding, found=f"{called}{finding.found}") for finding in _of_set(profile))


def _of_set(profile: Profile) -> Iterator[Finding]:
    """Whether an enrolled set can be told apart."""
    if profile.enrolment is not None:
        plain = profile.variant == "green-box"
        yield _AS_PIECES if plain else _separable(Look.of(profile.enrolment))
    if profile.cubes is not None:
        yield _coloured_apart(CubeLook.of(profile.cubes).scale)


def _judged(what: str, found: str, *, good: bool, improve: str) -> Finding:
    return Finding(what, found, good, "" if good else improve)


def _size(pixels: float) -> Finding:
    return _judged(
        "size",
        f"{pixels:.0f} pixels a square",
        good=pixels >= LEAST_PIXELS,
        improve=f"Move the camera nearer, or choose a finer picture: at least {LEAST_PIXELS} pixels a square.",
    )


def _tilt(points: NDArray[np.float64], layout: Layout) -> Finding:
    """How deep an average square looks beside its breadth, or how broad beside its depth."""
    sides = np.linalg.norm(points - np.roll(points, -1, axis=0), axis=1)
    across, along = max(sides[0], sides[2]) / layout.columns, max(sides[1], sides[3]) / layout.rows
    square = abs(_area(points)) / (layout.columns * layout.rows)
    shortening = float(square / max(across, along) ** 2)
    return _judged(
        "tilt",
        f"the board looks {min(shortening, 1):.0%} as deep as wide",
        good=shortening >= LEAST_SHORTENING,
        improve="Look from higher above: marks are hard to tell from so far aside.",
    )


def _area(points: NDArray[np.float64]) -> float:
    x, y = points.T
    return float(0.5 * np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))


def light(top_view: NDArray[np.uint8], layout: Layout) -> Iterator[Finding]:
    """Light and glare of a board's squares in its top view, BGR; what shows in its gaps is the table's."""
    start = (PATCH - SQUARE) // 2
    squares = patches(top_view, layout)[:, start : start + SQUARE, start : start + SQUARE]
    grey = np.stack([cv2.cvtColor(square, cv2.COLOR_BGR2GRAY) for square in squares])
    bright = float(np.percentile(grey, 90))
    yield _judged(
        "light",
        f"the brighter parts have level {bright:.0f} of 255",
        good=bright >= DARKEST,
        improve="Give the table more light.",
    )
    sides = np.array([(2 * one.column >= layout.columns, 2 * one.row >= layout.rows) for one in layout.squares])
    quarters = [grey[(sides == quarter).all(axis=1)] for quarter in np.unique(sides, axis=0)]
    levels = [float(np.percentile(quarter, 75)) for quarter in quarters]
    even = min(levels) / max(*levels, 1.0)
    yield _judged(
        "shadow",
        f"the darkest quarter of the board has {even:.0%} of the brightest's level",
        good=even >= LEAST_EVEN,
        improve="Move the lamp, or what casts the shadow: in half shade dark pieces and light ones look alike.",
    )
    burnt = float((darkest(squares) >= BURNT).mean())
    yield _judged(
        "glare",
        f"{burnt:.1%} of the board is burnt out",
        good=burnt <= MOST_GLARE,
        improve="Move the lamp or the camera until nothing shines in the board, or let less light in.",
    )


def _sharp(sharp: float) -> Finding:
    return _judged(
        "sharpness",
        f"edges rise by {sharp:.0%} of their height per pixel",
        good=sharp >= LEAST_SHARPNESS,
        improve="Focus the camera on the board, clean its lens, and keep it still.",
    )


def _told(squares: Sequence[Contents]) -> Finding:
    """Most squares of a board can be told, whatever lies there; of a bare table none."""
    count = sum(contents != ANYTHING for contents in squares)
    return _judged(
        "squares",
        f"something can be told of {count} of {len(squares)}",
        good=count > len(squares) / 2,
        improve="Take away what covers the board. If its corners are given, they may lie elsewhere: give them anew.",
    )


def _pieces_told(squares: Sequence[Contents], *, plain: bool, enrolled: bool) -> Iterator[Finding]:
    """Whether most of the pieces that surely lie there can be told: not those of a set that nobody knows."""
    pieces = [contents for contents in squares if not contents & EMPTY]
    if not pieces:
        return
    of_one_colour = {of_colour(colour) for colour in Colour}
    told = sum(colours_only(contents) in of_one_colour if plain else only(contents) for contents in pieces)
    again = "Give them other light, or enrol the set again."
    yield _judged(
        "pieces",
        f"the {'colour' if plain else 'kind and colour'} of {told} of {len(pieces)} can be told",
        good=told > len(pieces) / 2,
        improve=again if enrolled else _ENROL_CUBES if plain else _ENROL_PIECES,
    )


def _separable(look: Look) -> Finding:
    """Whether each enrolled piece is told by its twin, and by those of the other colour, to be of its kind."""
    matcher = FaceMatcher(look.faces)
    pad = (PATCH - look.faces[0].picture.shape[0]) // 2
    sides = (pad, PATCH - look.faces[0].picture.shape[0] - pad)
    cut = np.stack(
        [cv2.copyMakeBorder(face.picture, *sides, *sides, borderType=cv2.BORDER_REPLICATE) for face in look.faces]
    ).astype(np.uint8)
    likeness = matcher.likeness(cut)
    np.fill_diagonal(likeness, -1)
    worth = by_kind(by_content(best_of_content(likeness, matcher.contents)), look.others_say)
    alike = sorted({_rivals(look, i, row) for i, row in enumerate(worth)} - {""})
    return _judged(
        "set",
        "looks alike: " + ", ".join(alike) if alike else "all enrolled kinds are told apart",
        good=not alike,
        improve="Enrol the set again from a nearer, sharper picture; else these will often be asked about.",
    )


def _coloured_apart(scale: ColourScale) -> Finding:
    """Whether the two colours of enrolled cubes differ enough."""
    apart = scale.apart >= FAR_APART
    return _judged(
        "set",
        "both colours are told apart" if apart else "the two colours look much alike",
        good=apart,
        improve="Enrol the cubes again in other light, or take another colour; else they will often be asked about.",
    )


def _rivals(look: Look, index: int, worth: NDArray[np.float32]) -> str:
    own = look.faces[index].content
    first = 1 if own <= 4 else 5  # noqa: PLR2004 (light contents come first)
    rivals = [content for content in range(first, first + 4) if content != own]
    best = max(rivals, key=lambda content: float(worth[content]))
    if worth[own] - worth[best] >= LEAST_APART:
        return ""
    one, other = sorted((own, best))
    return f"{ALL_CONTENTS[one]} and {ALL_CONTENTS[other]}"
