"""Whether two pictures of a set can be enrolled from, and what is said of how well it can be told apart.

Pictures that nothing good can be learnt from are refused, each in one line: a board that is not empty, a square of the
arrangement without its piece, an arrangement that is turned, the same picture twice; pieces that are not alike two by
two, and marks that hardly show, unless the owner wants what shows; and cubes whose colours do not show.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

from calibration.check import DARKEST, FAR_APART
from calibration.enrolment import ARRANGEMENT, EnrolmentError
from companion.readings import EMPTY
from companion.rules import Colour, Kind, Piece
from companion.vision.enrolled import Look
from companion.vision.faces import DARK, LIGHT
from companion.vision.levels import BURNT
from companion.vision.rectify import away_side, patches, rectify

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from calibration.composing import LocatedPicture
    from calibration.cubes import LearntCubes
    from calibration.enrolment import Learnt, Pair
    from companion.rules import Layout, Square
    from companion.vision.pieces import Recogniser

    Bytes = NDArray[np.uint8]

_SAME = 2.0
"""Grey levels by which some square differs at least, if two pictures are not one."""
_SIDES = ("near", "right", "far", "left")
_OR_DARKER = "; if Light's are the darker ones, add --light-is-darker"
_EXCHANGED = 2
"""Quarter turns after which the arrangement looks as if the players had exchanged their colours."""
_KNOWN, _MANY, _HARDLY_ANY = 0.9, 8, 1
"""Marks of which the recogniser is so sure are known; half of the pieces are many, and one may always be misread."""
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
"""Tops of which such a share of pixels has two channels burnt out show little of their marks."""
_BRIGHT = 160
"""Where anything is so bright, more light would burn it out."""


def refuse_bad_pictures(
    empty: LocatedPicture,
    pieces: LocatedPicture,
    layout: Layout,
    recogniser: Recogniser,
    names: tuple[str, str],
    brighter: Colour | None,
    *,
    anyway: bool = False,
) -> None:
    """Say in one line what is wrong with the pictures, if something is.

    `brighter` is whose pieces are the brighter ones; None if nobody knows. With `anyway` marks may mean something else
    than they look like.

    Raises:
        EnrolmentError: which picture, and what to do.
    """
    views = [rectify(image, pose.points(), layout) for image, pose in (empty, pieces)]
    cut = [patches(view, layout).astype(int) for view in views]
    if float(np.abs(cut[0] - cut[1]).mean(axis=(1, 2, 3)).max()) < _SAME:
        raise EnrolmentError(f"{names[0]} and {names[1]} show the same; one has to show the board without pieces")
    said = [
        _probabilities(view, located, layout, recogniser) for view, located in zip(views, (empty, pieces), strict=True)
    ]
    contents = [recogniser.contents(each) for each in said]
    occupied = [str(s) for s, seen in zip(layout, contents[0], strict=True) if not seen & EMPTY]
    if occupied:
        raise EnrolmentError(f"{names[0]} has to show the empty board, but something is on {' '.join(occupied)}")
    missing = [str(s) for s, seen in zip(layout, contents[1], strict=True) if seen == EMPTY]
    if missing:
        raise EnrolmentError(f"{names[1]} has to show all sixteen pieces, but none is on {' '.join(missing)}")
    if brighter is None:
        return
    lightness = said[1][:, 1:5].sum(axis=1) - said[1][:, 5:9].sum(axis=1)
    turns = _turns(lightness if brighter is Colour.LIGHT else -lightness, layout)
    if turns:
        raise EnrolmentError(
            f"the arrangement in {names[1]} is turned: the light pieces lie on the {_SIDES[turns]} side of the "
            "picture, not on Light's; take it from Light's side, or give --corners from Light's a1"
            + (_OR_DARKER if turns == _EXCHANGED and brighter is Colour.LIGHT else "")
        )
    if not anyway and _is_mirrored(said[1], layout):
        raise EnrolmentError(
            f"the arrangement in {names[1]} is seen as in a mirror: switch that off in the camera, or lay rows from "
            "left to right; if these marks only look like that, add --anyway"
        )
    if not anyway and (found := _lies_otherwise(said[1], layout)):
        square, kind, belongs = found
        raise EnrolmentError(
            f"the pieces in {names[1]} do not lie in the standard arrangement: on {square} there is a {kind}, where a "
            f"{belongs} belongs; see companion calibrate enrol --help. If these marks only look like that, add --anyway"
        )
    if not anyway and (exchanged := _exchanged(cut[0], cut[1], layout)):
        where = " ".join(map(str, exchanged))
        raise EnrolmentError(
            f"the pieces in {names[1]} do not lie in the standard arrangement: those on {where} have the "
            "other player's colour; rows 1 and 2 are Light's, rows 3 and 4 Dark's. If they only look like that, add "
            "--anyway"
        )


def _probabilities(view: Bytes, located: LocatedPicture, layout: Layout, recogniser: Recogniser) -> NDArray[np.float32]:
    return recogniser.recognise(patches(view, layout, away_side(located[1].points(), layout)), mirror_too=True)


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


def _is_mirrored(said: NDArray[np.float32], layout: Layout) -> bool:
    """Whether the marks that the recogniser knows fit the arrangement seen in a mirror, and not as it should lie."""
    seen, wanted = _kinds_known(said)
    mirrored = wanted.reshape(layout.rows, layout.columns)[:, ::-1].ravel()
    return bool((seen == mirrored).sum() >= _MANY and (seen == wanted).sum() <= _HARDLY_ANY)


def _turns(lightness: NDArray[np.floating], layout: Layout) -> int:
    """By how many quarter turns, counter-clockwise, the light half lies away from Light; 0 if that is not clear."""
    board = lightness.reshape(layout.rows, layout.columns)
    expected = np.array([1.0 if piece.colour is Colour.LIGHT else -1.0 for piece in ARRANGEMENT])
    wanted = expected.reshape(layout.rows, layout.columns)
    fits = [float((np.rot90(wanted, -turn) * board).mean()) for turn in range(4)]
    best = int(np.argmax(fits))
    return best if fits[best] > 0.6 and fits[best] > fits[0] + 0.6 else 0  # noqa: PLR2004 (of 1 for all sixteen)


def refuse_unlike_twins(learnt: Learnt, name: str) -> None:
    """Say that the pieces in picture `name` were not laid out two by two, or that their marks do not show.

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
    advice = _exposure(learnt, name) or ("A picture from nearer, sharper or without glare may help." if poor else "")
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
    told, known = learnt.enrolment, Look.of(learnt.enrolment).faces
    tops: dict[Colour, list[Bytes]] = {colour: [] for colour in Colour}
    for face, look in zip(told.faces, known, strict=True):
        tops[Piece.parse(face.piece).colour].append(look.picture[_TOP, _TOP])
    bright = {colour: np.percentile(seen, 95) for colour, seen in tops.items()}
    dim = max(bright.values()) < _BRIGHT
    dark = {colour: _Exposure.DARK for colour, level in bright.items() if dim and level < DARKEST}
    burnt = [colour for colour, seen in tops.items() if (np.median(seen, axis=3) >= BURNT).mean() > _MUCH]
    return dark | dict.fromkeys(burnt, _Exposure.BURNT)


def _and(things: Sequence[Colour | Piece]) -> str:
    return " and the ".join(map(str, things))


def _both(pair: Pair) -> str:
    return f"{pair.one} and {pair.other.kind}"
