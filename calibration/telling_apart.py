"""How well an enrolled set can be told apart, what is said of that, and what would help.

A set is refused, in one line, whose pieces are not alike two by two or whose marks or colours hardly show, unless the
owner wants what shows; and cubes whose colours do not show.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING

import cv2
import numpy as np

from calibration.check import DARKEST, FAR_APART
from calibration.enrolment import ARRANGEMENT, EnrolmentError
from companion.rules import Colour, Piece
from companion.vision.enrolled import Look
from companion.vision.levels import BURNT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from calibration.cubes import LearntCubes
    from calibration.enrolment import Learnt, Pair

    Bytes = NDArray[np.uint8]

_NO_TWINS = -0.2
"""Kinds that are less apart than this, all in all, were not laid out two by two."""
_HARDLY = 0.0
"""Where they are less apart than this, no more than some marks can be seen."""
_NO_MARKS = -0.3
"""The same of the kinds of one colour whose marks cannot be seen at all."""
_FEW_MARKS = 0.0
"""And of a colour whose pieces are burnt out, or too dark: a better picture shows more."""
_NO_MARK = -0.05
"""The same of a kind and whichever other of its colour it is most apart from."""
POOR = 0.1
"""Kinds less apart than this are pointed out; see `calibration.enrolment.Pair`."""
_STRANGE = 2
"""So many cubes may look more like the other colour: one lies in the shade now and then."""
_BLACK, _GREY = 50, 60
"""Below this value, or this saturation, nothing has a hue."""
_BRIGHT_COLOUR, _PALE = 170, 130
"""Colours are bright from this value on, and pale below this saturation."""
_HUES = (
    (6, "red"), (24, "orange"), (35, "yellow"), (80, "green"), (96, "turquoise"), (131, "blue"), (150, "violet"),
    (172, "pink"), (181, "red"),
)  # fmt: skip
"""Hues, in steps of two degrees, end below these."""
_OTHERWISE = {
    ("orange", True, True): "beige",
    ("orange", False, True): "brown",
    ("orange", False, False): "brown",
    ("red", True, True): "pink",
    ("red", False, True): "brown",
    ("pink", False, True): "violet",
    ("pink", False, False): "violet",
}
"""What a hue is called if it is bright or not, and pale or not."""
_TOP = slice(7, -7)
"""Where a face's picture surely shows the top of its piece."""
_MUCH = 0.2
"""Tops of which such a share of pixels has two channels burnt out show little of their marks; if one is burnt out and
the others show nothing, little of their colour."""
_NOTHING = 6
"""A channel shows nothing up to this level."""
_NEARER = (
    "A picture from nearer, sharper or without glare may help; or one of them lies where another belongs (--help shows "
    "the arrangement)."
)
_BRIGHT = 160
"""Where anything is so bright, more light would burn it out."""


def refuse_unlike_twins(learnt: Learnt, name: str) -> None:
    """Say that the pieces in picture `name` were not laid out two by two, or that marks or a colour do not show.

    Raises:
        EnrolmentError: if so; with what to do.
    """
    for colour in _badly_exposed(learnt):
        _refuse_hidden_marks(learnt, name, colour, _FEW_MARKS)
    if _apart(learnt) < _NO_TWINS:
        raise EnrolmentError(
            f"the pieces in {name} do not look alike two by two: lay them out in the standard arrangement (--help "
            "shows it), or take a sharper picture; with --anyway they are taken as they lie"
        )
    for colour in Colour:
        _refuse_hidden_marks(learnt, name, colour, _NO_MARKS)
    if _apart(learnt) < _HARDLY:
        raise EnrolmentError(f"The marks of the pieces hardly show in {name}. {_better(learnt, name)}")
    hidden = _told_from_none(learnt)
    if hidden:
        raise EnrolmentError(f"The marks of the {_and(hidden)} hardly show in {name}. {_better(learnt, name)}")
    loud = [colour for colour, seen in _tops(learnt).items() if _no_more_than_a_hue(seen)]
    if loud:
        raise EnrolmentError(
            f"No more than a hue is left of the colour of the {_and(loud)} pieces in {name}: take both pictures with "
            "less light, or darker. With --anyway what shows is kept."
        )


def _refuse_hidden_marks(learnt: Learnt, name: str, colour: Colour, least: float) -> None:
    if _apart(learnt, colour) < least:
        raise EnrolmentError(f"The marks of the {colour} pieces do not show in {name}. {_better(learnt, name)}")


def _better(learnt: Learnt, name: str) -> str:
    return f"{_exposure(learnt, name) or 'Take a sharper picture, from nearer.'} With --anyway what shows is kept."


def _told_from_none(learnt: Learnt) -> list[Piece]:
    """The pieces that look like each other kind of their colour."""
    rivals: dict[Piece, list[float]] = {}
    for pair in learnt.pairs:
        for piece in (pair.one, pair.other):
            rivals.setdefault(piece, []).append(pair.apart)
    return [piece for piece, apart in rivals.items() if max(apart) < _NO_MARK]


def refuse_bad_colours(colours: NDArray[np.floating], name: str, *, anyway: bool) -> None:
    """Say that the `colours` of the sixteen cubes, `(16, 3)` BGR, are not those of an arrangement in picture `name`.

    What shows is enough if the owner wants it `anyway`; how the cubes lie is not.

    Raises:
        EnrolmentError: if both colours are brighter than it can show, or do not lie on the halves of the board.
    """
    own = _of_players(colours)
    if not anyway and all(colour.max() >= BURNT for colour in own.values()):
        raise EnrolmentError(
            f"the cubes of both colours are burnt out in {name}: take both pictures with less light, or darker. With "
            "--anyway what shows is kept"
        )
    away = {player: np.linalg.norm(colours - colour, axis=1) for player, colour in own.items()}
    strange = [i for i, piece in enumerate(ARRANGEMENT) if away[piece.colour][i] > away[piece.colour.other][i]]
    if len(strange) > _STRANGE:
        raise EnrolmentError(
            f"the cubes in {name} do not lie as Light's on rows 1 and 2 and Dark's on rows 3 and 4, or the two colours "
            "look the same there: take the picture from Light's side, in other light, or give --corners from Light's a1"
        )


def _of_players(colours: NDArray[np.floating]) -> dict[Colour, NDArray[np.floating]]:
    """The usual colour of each player's cubes."""
    owners = np.array([piece.colour is Colour.LIGHT for piece in ARRANGEMENT])
    return {player: np.median(colours[owners == (player is Colour.LIGHT)], axis=0) for player in Colour}


def _apart(learnt: Learnt, *colours: Colour) -> float:
    """How well the kinds of these colours, by default of both, can be told apart all in all."""
    return float(np.median([pair.apart for pair in learnt.pairs if not colours or pair.one.colour in colours]))


def colours_in_words(learnt: LearntCubes, name: str) -> str:
    """Whose cubes have which colour, how well they can be told apart, and what to do about picture `name` of them."""
    own = _of_players(learnt.colours)
    light, dark = (name_of_colour(colour) for colour in own.values())
    if light == dark:
        brighter = own[Colour.LIGHT].mean() > own[Colour.DARK].mean()
        light, dark = (f"the {'brighter' if more else 'darker'} {light}" for more in (brighter, not brighter))
    whose = f"Light's are {light} and Dark's {dark}; if not, take the picture from Light's side."
    if learnt.apart >= FAR_APART:
        return f"{whose} The two colours are told apart well."
    return (
        f"{whose} They look much alike, and will often be asked about; a picture like {name} in other light may help."
    )


def name_of_colour(bgr: Sequence[float] | NDArray[np.floating]) -> str:
    """What people call a colour, more or less."""
    level = np.clip(bgr, 0, 255).astype(np.uint8)
    hue, saturation, value = cv2.cvtColor(level[None, None], cv2.COLOR_BGR2HSV)[0, 0].tolist()
    bright, pale = value >= _BRIGHT_COLOUR, saturation < _PALE
    if value < _BLACK:
        return "black"
    if saturation < _GREY:
        return "white" if bright else "grey"
    called = next(name for below, name in _HUES if hue < below)
    return _OTHERWISE.get((called, bright, pale), called)


def in_words(learnt: Learnt, name: str) -> str:
    """How well the kinds of a set can be told apart, and what to do about picture `name` of its pieces."""
    poor = [pair for pair in learnt.pairs if pair.apart < POOR]
    told = "All kinds are told apart well."
    if poor:
        told = f"These look much alike, and will often be asked about: {', '.join(map(_both, poor))}."
    advice = _exposure(learnt, name) or (_NEARER if poor else "")
    return f"{told} {advice}".strip()


def _exposure(learnt: Learnt, name: str) -> str:
    """Which pieces are burnt out or too dark in picture `name`, and what to do; empty if none is."""
    burnt, dark = ([colour for colour, why in _badly_exposed(learnt).items() if why is each] for each in _Exposure)
    if burnt:
        return (
            f"The {_and(burnt)} pieces are burnt out in {name}: better take both pictures with less light, or darker."
        )
    if dark:
        return (
            f"The {_and(dark)} pieces are too dark in {name}: better take both pictures with more light, or brighter."
        )
    return ""


class _Exposure(Enum):
    BURNT = auto()
    DARK = auto()


def _badly_exposed(learnt: Learnt) -> dict[Colour, _Exposure]:
    """The colours whose pieces are burnt out, or too dark where more light would burn nothing out."""
    tops = _tops(learnt)
    bright = {colour: np.percentile(seen, 95) for colour, seen in tops.items()}
    dim = max(bright.values()) < _BRIGHT
    dark = {colour: _Exposure.DARK for colour, level in bright.items() if dim and level < DARKEST}
    burnt = [colour for colour, seen in tops.items() if (np.median(seen, axis=3) >= BURNT).mean() > _MUCH]
    return dark | dict.fromkeys(burnt, _Exposure.BURNT)


def _tops(learnt: Learnt) -> dict[Colour, list[Bytes]]:
    """What is surely the top of each piece, colour by colour."""
    tops: dict[Colour, list[Bytes]] = {colour: [] for colour in Colour}
    for face, look in zip(learnt.enrolment.faces, Look.of(learnt.enrolment).faces, strict=True):
        tops[Piece.parse(face.piece).colour].append(look.picture[_TOP, _TOP])
    return tops


def _no_more_than_a_hue(tops: list[Bytes]) -> bool:
    """Whether a colour is all in one channel, which is burnt out: in other light it may look like any paler one."""
    pure = (np.median(tops, axis=3) <= _NOTHING) & (np.max(tops, axis=3) >= BURNT)
    return float(pure.mean()) > _MUCH


def _and(things: Sequence[Colour | Piece]) -> str:
    return " and the ".join(map(str, things))


def _both(pair: Pair) -> str:
    return f"{pair.one} and {pair.other.kind}"
