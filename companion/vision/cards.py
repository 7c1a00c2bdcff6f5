"""Reads the card on a pile beside the board: the set of kinds that it may show.

The four symbols of the Green Box, an arrow, hammers, three circles and bricks, and the notation's own marks are read
out of the box, as plain drawings of any size and colour: a small network looks at everything that is shaped like a card
(`companion.vision.sheets`). Cards with other art are known by their pictures, once enrolled.
What is not clearly one of the four may be any of them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import reduce
from importlib import resources
from operator import or_
from typing import TYPE_CHECKING, Final, Self

import cv2
import numpy as np

from companion.errors import ProfileError
from companion.rules import Kind
from companion.vision import networks
from companion.vision.context import softmax
from companion.vision.faces import FACE, Face, FaceMatcher, by_content
from companion.vision.lens import PINHOLE
from companion.vision.rectify import PATCH
from companion.vision.sheets import PICTURE, around, flatten, sheets, things, within

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from companion.profile import EnrolledCard
    from companion.rules import Layout
    from companion.vision.lens import Optics
    from companion.vision.pose import BoardPose
    from companion.vision.sheets import Sheet, Strip

    Floats = NDArray[np.float32]
    Image = NDArray[np.uint8]

KINDS: Final = tuple(Kind)
CLASSES: Final = len(KINDS) + 1
"""The kinds, and none of them."""
ANY: Final = (1 << len(KINDS)) - 1
_MODELS = resources.files("companion.vision") / "models"
_FLATTEST = 8.0
_UNHEARD_OF = 1e-7
_MAYBE = 0.5
"""From this probability on, something may be a card."""
_ANGLES = tuple(half + turn for half in (0, 180) for turn in (-12, -6, 0, 6, 12))
"""By so many degrees an enrolled card may be turned in the rectangle around it, which may be a messy pile's."""
_APART = 0.1
"""Two sheets that share no more than this lie side by side."""
_AS_LARGE = 0.5
"""What is smaller than this share of a card beside it is no card: they are of one size."""
_ALIKE = 0.7
"""A card that is less like every enrolled one than this is none of them."""
_NEARLY = 0.15
"""Rectangles that are nearly as much alike as the best have a say too."""
_FACE_SHARE = 0.95
"""So much of a card, across, is compared to tell whether it lies as it did."""
_NUDGED = 1
"""A card from which another is taken may be moved by so many pixels of the view."""
_AS_IT_LAY = 0.96
"""A card from which another is taken is so much alike to what it was, 1 at most: drawn ones that lay still had 0.979 at
least, and three of four that were moved by a few hundredths of a square this. Of those that are laid anew one in
twenty has as much, and one in three where their player lays them to within 1/25 of a square."""
_MARGIN = 0.7
"""How much worse an enrolled card has to explain what is seen than the best one to be ruled out; see `by_content`."""


@dataclass(frozen=True, slots=True)
class CardRule:
    """What the network's probabilities are taken for. Calibrated with the model."""

    least: float
    """A kind less probable than this is ruled out."""
    card: float
    """From this probability of all kinds together on, it is a card of these."""

    def is_card(self, row: Floats) -> bool:
        """Whether what has these probabilities `(CLASSES,)` is a card of the four kinds."""
        return float(row[: len(KINDS)].sum()) >= self.card

    def kinds(self, row: Floats) -> int:
        """The kinds that cannot be ruled out, as bits in the order of `KINDS`; all of them unless it is a card."""
        if not self.is_card(row):
            return ANY
        return sum(1 << i for i in range(len(KINDS)) if row[i] >= self.least) or ANY


def toned(pictures: Image) -> Floats:
    """Pictures of cards as the network wants them, `(n, 3, height, width)`: colours around 0, contrasts made alike."""
    seen = pictures.astype(np.float32)
    spread = np.maximum(seen.mean(axis=3).std(axis=(1, 2)), _FLATTEST)
    centred = (seen - seen.mean(axis=(1, 2), keepdims=True)) / spread[:, None, None, None]
    return np.ascontiguousarray(centred.transpose(0, 3, 1, 2))


class CardJudge:
    """Says what pictures of cards may show. Not for sharing between threads: OpenCV's networks keep their buffers."""

    def __init__(self, network: bytes) -> None:
        self._network = networks.load(network)

    @classmethod
    def bundled(cls) -> Self:
        """The judge that comes with the program: trained on drawn cards only, see `models/cards.json`."""
        return cls((_MODELS / "cards.onnx").read_bytes())

    def judge(self, pictures: Image) -> Floats:
        """Probabilities `(n, CLASSES)` for pictures `(n, PICTURE[1], PICTURE[0], 3)`, each seen from its four sides."""
        sides = (pictures, pictures[:, ::-1], pictures[:, :, ::-1], pictures[:, ::-1, ::-1])
        self._network.setInput(toned(np.concatenate(sides)))
        scores = np.array(self._network.forward(), np.float32).reshape(len(sides), len(pictures), CLASSES)
        return softmax(np.mean(np.log(np.maximum(softmax(scores), _UNHEARD_OF)), axis=0))


class CardArt:
    """The enrolled cards of one print, compared as the tops of enrolled pieces are."""

    def __init__(self, pictures: Mapping[Kind, Image]) -> None:
        """`pictures` are such as `Sheet.picture` gives, of `PICTURE` size."""
        self.kinds = tuple(pictures)
        faces = [Face(KINDS.index(kind), middle(picture)) for kind, picture in pictures.items()]
        self._matcher = FaceMatcher(faces, _ANGLES)

    @classmethod
    def of(cls, enrolled: Iterable[EnrolledCard]) -> Self | None:
        """The cards of a profile; None if it has none. Raises `ProfileError` if one is no picture."""
        pictures = {Kind(card.kind): card_picture(card) for card in enrolled}
        return cls(pictures) if pictures else None

    def kinds_among(self, found: Sequence[Sheet], pictures: Image) -> tuple[int, Sheet]:
        """What the things may show that sheets with these pictures frame, as bits, 0 if none of these; and the surest.

        What is less clearly one of them than another thing does not count.
        """
        alike = self.likeness(pictures)
        best = alike.max(axis=1)
        enough = max(_ALIKE, float(best.max()) - _NEARLY)
        kinds = reduce(or_, (self._kinds(alike[same].max(axis=0)) for same in things(found, best, enough)), 0)
        return kinds, found[int(best.argmax())]

    def likeness(self, pictures: Image) -> Floats:
        """How alike each picture is to each card, `(n, cards)`; 1 at most."""
        return self._matcher.likeness(np.stack([_patch(picture) for picture in pictures]))

    def _kinds(self, alike: Floats) -> int:
        """The cards that cannot be ruled out where each is so much alike `(cards,)`."""
        explained = by_content(alike[None])[0]
        return sum(1 << int(kind) for kind in self._matcher.contents[explained >= -_MARGIN])


def middle(picture: Image) -> Image:
    """The part of a card's picture by which it is known."""
    x, y = ((side - FACE) // 2 for side in PICTURE)
    return np.ascontiguousarray(picture[y : y + FACE, x : x + FACE])


def _patch(picture: Image) -> Image:
    """A card's picture as a `FaceMatcher` wants it: a card is as wide there as a square."""
    x, y = ((PATCH - side) // 2 for side in PICTURE)
    return np.asarray(cv2.copyMakeBorder(picture, y, y, x, x, cv2.BORDER_REPLICATE), np.uint8)


def card_picture(card: EnrolledCard) -> Image:
    """The picture that a profile keeps of a card; raises `ProfileError` if it is none."""
    image = cv2.imdecode(np.frombuffer(card.png, np.uint8), cv2.IMREAD_COLOR) if card.png else None
    if image is None or image.shape != (PICTURE[1], PICTURE[0], 3):
        raise ProfileError(f"the enrolled {card.kind} card in this profile is damaged: enrol it again")
    return np.asarray(image, np.uint8)


@dataclass(frozen=True, slots=True)
class SeenCard:
    """A card beside the board, as it lies there."""

    kinds: frozenset[Kind]
    """What it may show."""
    sheet: Sheet
    """Where it lies in the view of its strip."""
    strip: Image
    """The view of its strip, in grey and without noise, `(height, width)`."""

    def lies_as(self, earlier: SeenCard) -> bool:
        """Whether it is that card of the same strip, as it lay then; a careful hand may lay one so, too."""
        inner = (self.sheet.corners - (self.sheet.x, self.sheet.y)) * _FACE_SHARE + (self.sheet.x, self.sheet.y)
        size = np.array(self.strip.shape[1::-1])
        left, upper = np.maximum(np.floor(inner.min(axis=0)), _NUDGED).astype(int)
        right, lower = np.minimum(np.ceil(inner.max(axis=0)), size - _NUDGED).astype(int)
        now = self.strip[upper:lower, left:right]
        then = earlier.strip[upper - _NUDGED : lower + _NUDGED, left - _NUDGED : right + _NUDGED]
        return float(cv2.matchTemplate(then, now, cv2.TM_CCOEFF_NORMED).max()) >= _AS_IT_LAY


class CardReader:
    """Reads the cards that lie beside a board. Not for sharing between threads."""

    def __init__(self, judge: CardJudge, rule: CardRule, art: CardArt | None = None, optics: Optics = PINHOLE) -> None:
        """`optics` is the lens, which what finds the board has to know too."""
        self._judge, self._rule, self._art, self.optics = judge, rule, art, optics

    @classmethod
    def bundled(cls, art: CardArt | None = None, optics: Optics = PINHOLE) -> Self:
        """The reader that comes with the program."""
        card = json.loads((_MODELS / "cards.json").read_text(encoding="utf-8"))
        return cls(CardJudge.bundled(), CardRule(**card["rule"]), art, optics)

    def read(self, image: Image, pose: BoardPose, layout: Layout, strip: Strip) -> SeenCard | None:
        """The card in a strip of the table; None if none is seen there."""
        corners = pose.points()
        view = flatten(image, corners, layout, strip, optics=self.optics)
        shown = self.optics.straight_size((image.shape[1], image.shape[0]))
        kinds, sheet = self.judged(within(sheets(view), strip.to_picture(corners, layout), shown), view)
        return SeenCard(_kinds(kinds), sheet, _softly(view)) if sheet and kinds else None

    def read_around(self, image: Image, pose: BoardPose, layout: Layout) -> frozenset[Kind] | None:
        """The same for whatever card lies on any side of the board: all that it, or any of them, may show."""
        seen = [card.kinds for strip in around(layout) if (card := self.read(image, pose, layout, strip))]
        return frozenset().union(*seen) if seen else None

    def judged(self, found: list[Sheet], view: Image) -> tuple[int, Sheet | None]:
        """The kinds that the cards among these sheets of a view may show, as bits, and what most surely is one.

        0 if none is a card.
        """
        if not found:
            return 0, None
        pictures = np.stack([sheet.picture(view) for sheet in found])
        known, surest = self._art.kinds_among(found, pictures) if self._art else (0, None)
        if known or (self._art and len(self._art.kinds) == len(KINDS)):
            return known, surest
        probabilities = self._judge.judge(pictures)
        return self._plain(found, probabilities), found[int(_of_a_card(probabilities).argmax())]

    def _plain(self, found: list[Sheet], probabilities: Floats) -> int:
        """What plain drawings say; whatever may be a card and is not surely read may be any."""
        seen = list(card_like(found, probabilities))
        cards = [(same, row) for same, row in seen if self._rule.is_card(row)]
        said = reduce(or_, (self._rule.kinds(row) for _, row in cards), 0)
        surely = [i for same, _ in cards for i in same if self._rule.is_card(probabilities[i])]
        least = _AS_LARGE * max((found[i].area for i in surely), default=0.0)
        for same, row in seen:
            if self._rule.is_card(row) or max(found[i].area for i in same) < least:
                continue
            beside = all(found[same[0]].shared(found[card[0]]) < _APART for card, _ in cards)
            if beside or not said >> int(row[: len(KINDS)].argmax()) & 1:
                return ANY
        return said


def card_like(found: Sequence[Sheet], probabilities: Floats) -> Iterator[tuple[list[int], Floats]]:
    """What may be cards: which sheets frame each, the one that is most surely a card first, and what it may show.

    That is `(CLASSES,)`: what is said of the sheets is averaged as logarithms.
    """
    for same in things(found, _of_a_card(probabilities), _MAYBE):
        yield same, softmax(np.log(np.maximum(probabilities[same], _UNHEARD_OF)).mean(axis=0))


def _of_a_card(probabilities: Floats) -> Floats:
    """How probably each sheet frames a card, `(n,)`."""
    return np.asarray(probabilities[:, : len(KINDS)].sum(axis=1))


def _softly(view: Image) -> Image:
    """In grey, without its noise."""
    return np.asarray(cv2.GaussianBlur(cv2.cvtColor(view, cv2.COLOR_BGR2GRAY), (0, 0), 1.0), np.uint8)


def _kinds(bits: int) -> frozenset[Kind]:
    return frozenset(kind for i, kind in enumerate(KINDS) if bits >> i & 1)
