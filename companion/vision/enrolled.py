"""The recogniser of an enrolled set: the network says whether there is a piece and of which colour, its face which.

The network never saw these marks, but occupied, empty, covered, and the two colours are in its embedding all the same;
`calibration.enrolment` fits a few weights that read them off it, on boards put together from the owner's two
pictures. Whether there is a piece at all the network's own head is asked as well: the two err on different squares, so
what both say is surer than what either says; and so it is of the colour, as far as it was found out at enrolment that
the head knows the colours of this set. The kind is told by the faces (`companion.vision.faces`), where it helps
by those of the other colour too: most sets bear the same marks on both. A piece that is like no face of the set, such
as a cup or a coin, may be anything; so may one of which network and faces see different colours, but where the faces
leave no doubt or the light decides (`companion.vision.light`). How like the faces it is tells, too, whether there is a
piece.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

import cv2
import numpy as np

from companion.errors import ProfileError
from companion.readings import ALL_CONTENTS
from companion.rules import Piece
from companion.vision.context import softmax
from companion.vision.faces import (
    DARK,
    FACE,
    LIGHT,
    MEASURE,
    Comparison,
    Face,
    FaceMatcher,
    best_of_content,
    by_content,
    by_kind,
)
from companion.vision.light import FEATURES, Agreement, Views
from companion.vision.pieces import CLASSES, COVERED, EMBEDDING, Looked, SetRule, Tone, bundled_backbone

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from companion.profile import EnrolledLight, Enrolment
    from companion.readings import Contents
    from companion.vision.pieces import Recogniser

    Floats = NDArray[np.float32]
    Patches = NDArray[np.uint8]

STATES: Final = 4
"""What the weights tell apart: empty, light, dark, covered."""
LEAST: Final = 5e-3
"""A content less probable than this is ruled out."""
LEAST_IN_PHOTOGRAPHS: Final = 1.5e-2
"""The same where it was looked at from more than one place, and all pieces are judged by what a set allows."""
AT_MARGIN: Final = 3e-3
"""How probable, beside the best, is what explains a patch worse by its margin: a tenth less than that is ruled out."""
_DIM: Final = 4.0
"""So many grey levels are dark, whatever their colour."""
_TINTS: Final = 4
"""The middle of a patch is seen in so many by so many tints."""
_MIDDLE: Final = slice(16, 56)
TRAITS: Final = EMBEDDING + 3 * _TINTS**2 + 3
"""How many `traits` there are."""
_FACES_SAY: Final = 0.5
"""How much of what faces say about kinds they say about colours."""
_MAYBE: Final = 1e-4
_STATES, _COMPARED, _EMBEDDING = slice(STATES), slice(STATES, -EMBEDDING), slice(-EMBEDDING, None)
"""What is where in the rows of `EnrolledRecogniser.embed`."""
LEAST_BELIEVED: Final = 3e-3
"""Neither the weights nor the network's head are believed that anything is less probable than this."""
_HARDLY: Final = 0.1
"""Of the pieces that may lie there, the share that a colour has which the network all but rules out."""
_VERY_ALIKE: Final = 0.85
_MUCH_WORSE: Final = 0.8
"""A face that is so much alike leaves no doubt of its colour if the other colour's are worse by so much beyond the
margin."""
_FACES_WEIGH: Final = 5.0
"""The most that likeness to the faces changes the logarithm of the odds of a colour by, and being unlike of a piece."""
_MARKS_SHOW: Final = 11.0
"""The most that likeness speaks for a piece: marks may be burnt out or hidden, but where they are seen they are."""
_SURE: Final = 0.99
_SETTLES: Final = 3.0
"""The most that being unlike speaks against a piece where weights and head contradict each other about it."""
_LIKE_NOTHING: Final = 0.45
_LIKE_A_FACE: Final = 0.85
"""What faces explain counts the less the less the best of them is like the patch, from all to next to nothing."""
_NEXT_TO_NOTHING: Final = 0.05
_VARIANCES: Final = (1e-6, 1e3)
"""Between these are those of what squares say about their light."""
_LARGEST_WEIGHT: Final = 1e6
_LIGHT_DECIDES: Final = 2.0
"""From these odds on, as a logarithm, the light decides between weights and faces."""


def fingerprint() -> str:
    """What tells the network and the comparison that a set was enrolled with from any other."""
    return hashlib.sha256(bundled_backbone() + bytes([MEASURE])).hexdigest()[:16]


def traits(recogniser: Recogniser, patches: Patches, tone: Tone) -> Floats:
    """What the weights look at: the embedding of each patch, its tints and its colour in this light, `(n, traits)`."""
    toned = tone.apply(patches).transpose(0, 2, 3, 1)
    tints = [
        cv2.resize(patch[_MIDDLE, _MIDDLE], (_TINTS, _TINTS), interpolation=cv2.INTER_AREA).ravel() for patch in toned
    ]
    shades = patches[:, _MIDDLE, _MIDDLE].mean(axis=(1, 2))
    colours = np.log((shades + _DIM) / (np.array(tone.cast) + _DIM))
    return np.concatenate(
        [recogniser.embed(patches, tone), np.array(tints, np.float32), colours], axis=1, dtype=np.float32
    )


@dataclass(frozen=True, slots=True)
class Look:
    """What enrolment has learnt of one set."""

    faces: tuple[Face, ...]
    weights: Floats
    """From `traits`, and 1, to the scores of the `STATES`; `(STATES, traits + 1)`."""
    margin: float
    """How much worse a kind than the best of its colour has to explain a patch to be improbable; see `AT_MARGIN`."""
    colour_margin: float
    """The same of all faces of a colour, where those of the other explain it better."""
    others_say: float
    """How much the faces of the other colour tell of the kind; see `by_kind`."""
    colours_heard: float
    """How much the network's head tells of colours: its odds count to this power."""
    least_alike: float
    """A piece that is less like all faces than this is none of the set."""
    as_likely: float
    likelier: float
    """At which likeness a piece is as likely as an empty square, and how fast its log odds grow with likeness."""
    agreement: Agreement | None
    """What the light tells of colours, if it was learnt."""

    @classmethod
    def of(cls, enrolment: Enrolment) -> Self:
        """What a profile keeps; `ProfileError` if it was made with another network or is damaged."""
        if enrolment.backbone != fingerprint():
            raise ProfileError("this set was enrolled with another version of the recogniser: enrol it again")
        try:
            weights = weights_of(enrolment.weights).reshape(STATES, TRAITS + 1)
            faces = _faces(enrolment)
            agreement = _agreement(enrolment.light) if enrolment.light else None
        except (ValueError, KeyError, cv2.error) as error:
            raise ProfileError("the enrolment in this profile is damaged: enrol the set again") from error
        margins = enrolment.margin, enrolment.colour_margin
        odds = enrolment.as_likely, enrolment.likelier
        heard = enrolment.others_say, enrolment.colours_heard
        return cls(faces, weights, *margins, *heard, enrolment.least_alike, *odds, agreement)


def weights_of(encoded: str) -> Floats:
    """The numbers that a profile keeps, `(n,)`; `ValueError` if that is none, or one is none or enormous."""
    weights = np.frombuffer(base64.b64decode(encoded), "<f4")
    if not (np.abs(weights) <= _LARGEST_WEIGHT).all():
        raise ValueError("weights that are no numbers, or enormous")
    return weights


def _faces(enrolment: Enrolment) -> tuple[Face, ...]:
    faces = tuple(_face(face.piece, face.picture) for face in enrolment.faces)
    if {face.content for face in faces} != set(range(1, len(ALL_CONTENTS))):
        raise ValueError("a piece that has no face")
    return faces


def _face(piece: str, picture: str) -> Face:
    image = cv2.imdecode(np.frombuffer(base64.b64decode(picture), np.uint8), cv2.IMREAD_COLOR)
    if image is None or image.shape != (FACE, FACE, 3):
        raise ValueError("a face is no picture")
    return Face(ALL_CONTENTS.index(Piece.parse(piece)), np.asarray(image, np.uint8))


def _agreement(light: EnrolledLight) -> Agreement:
    spread, empty = np.reshape(light.spread, (FEATURES, FEATURES)), np.reshape(light.empty_spread, (3, 3))
    for covariance in (spread, empty):
        sizes = np.linalg.eigvalsh(covariance)
        if (
            not np.allclose(covariance, covariance.T)
            or not _VARIANCES[0] <= sizes.min() <= sizes.max() <= _VARIANCES[1]
        ):
            raise ValueError("no covariance of grey levels")
    return Agreement(spread, np.array(light.empty), empty, light.trust)


class EnrolledRecogniser:
    """Reads patches of an enrolled set; see `companion.vision.reader.Recogniser` for what that means."""

    sides: Final = 1
    """Marks may look otherwise in the mirror."""
    asks_spares: Final = False
    """The set is known already."""
    looks_beside: Final = True
    """Weights and head are surer of what they see from more than one place."""
    evens_light: Final = False
    """Colours are reckoned in the light that all squares share."""

    def __init__(self, recogniser: Recogniser, look: Look) -> None:
        self._recogniser, self._look = recogniser, look
        self._matcher = FaceMatcher(look.faces)
        margins = look.margin, look.colour_margin
        self._kinds_tell, self._colours_tell = (-np.log(AT_MARGIN) / margin for margin in margins)
        self._rules = {
            look: SetRule(least=LEAST_IN_PHOTOGRAPHS if look is Looked.PHOTOGRAPH else LEAST, covered=0.5)
            for look in Looked
        }

    def recognise(self, patches: Patches, *, mirror_too: bool = False) -> Floats:  # noqa: ARG002
        """Probabilities `(n, CLASSES)`: `ALL_CONTENTS`, then covered."""
        return self.judge(self.embed(patches, Tone.of(patches)))

    def embed(self, patches: Patches, tone: Tone) -> Floats:
        """What `judge` asks of each patch, `(n, STATES + 3 + 7 * faces + EMBEDDING)`.

        The probabilities of the states, how it compares with the faces, and the network's embedding.
        """
        seen = traits(self._recogniser, patches, tone)
        states = softmax(seen @ self._look.weights[:, :-1].T + self._look.weights[:, -1])
        pieces = states[:, 1:3].sum(axis=1) > _MAYBE
        return np.concatenate([states, self._matcher.compare(patches, pieces).rows(), seen[:, :EMBEDDING]], axis=1)

    def judge(self, embeddings: Floats) -> Floats:
        """Probabilities `(n, CLASSES)` of the squares of one board, from `embed`'s rows."""
        compared, told = Comparison.of(embeddings[:, _COMPARED]), embeddings[:, _STATES]
        by_face = best_of_content(compared.alike, self._matcher.contents)
        alike = by_face.max(axis=1)
        explained = by_content(by_face) * _counts(alike)[:, None]
        kinds_told = by_kind(explained, self._look.others_say)
        network = self._recogniser.judge(embeddings[:, _EMBEDDING])
        at_odds = _at_odds_about_a_piece(told, network)
        coloured = _coloured_for_both(told, network, self._look.colours_heard)
        occupied = self._also_by_likeness(_occupied_for_both(coloured, network), alike, at_odds)
        states = self._with_faces(occupied, explained)
        unlike = alike < self._look.least_alike
        states, lamp = self._in_one_light(states, compared, unlike)
        probabilities = np.zeros((len(embeddings), CLASSES), np.float32)
        probabilities[:, 0] = states[:, 0]
        for state, kinds in ((1, LIGHT), (2, DARK)):
            probabilities[:, kinds] = states[:, state, None] * softmax(self._kinds_tell * kinds_told[:, kinds])
        strange = (unlike | self._at_odds(coloured, explained, alike, lamp)) & (states[:, 1:3].sum(axis=1) > _MAYBE)
        probabilities[strange, 1:COVERED] = 0
        probabilities[:, COVERED] = np.where(strange, 1 - states[:, 0], states[:, 3])
        return np.asarray(probabilities / probabilities.sum(axis=1, keepdims=True), np.float32)

    def _also_by_likeness(self, states: Floats, alike: Floats, at_odds: NDArray[np.bool_]) -> Floats:
        """The states, where what is like a face is the likelier a piece, and neither empty nor covered.

        `at_odds` is where the states were told by two who contradict each other.
        """
        odds = self._look.likelier * (alike - self._look.as_likely)
        odds = np.clip(odds, np.where(at_odds, -_SETTLES, -_FACES_WEIGH), _MARKS_SHOW)
        return _also_told(states, slice(4), np.exp(np.stack([0 * odds, odds, odds, np.minimum(odds, 0)], axis=1)))

    def _in_one_light(self, states: Floats, compared: Comparison, unlike: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """The states, where colours are those for which all squares lie in one light; and what the light alone says.

        That is by how much it speaks for light, as the logarithm of odds. What is `unlike` every face is not asked as a
        piece.
        """
        if self._look.agreement is None:
            return states, np.zeros(len(states), np.float32)
        asked = states[:, :3].copy()
        asked[unlike, 1:3] = 0
        shares, lamp = self._look.agreement.colours(Views.of(self._matcher, compared), asked)
        coloured = states.copy()
        coloured[:, 1:3] = np.where(unlike[:, None], states[:, 1:3], shares * states[:, 1:3].sum(axis=1, keepdims=True))
        return coloured, np.asarray(lamp, np.float32)

    def _at_odds(self, states: Floats, explained: Floats, alike: Floats, lamp: Floats) -> NDArray[np.bool_]:
        """Where only faces of one colour explain what weights, and the head as far as it is heard, say is of the other.

        And the light sides with neither.
        """
        best = np.stack([explained[:, kinds].max(axis=1) for kinds in (LIGHT, DARK)], axis=1)
        told, rows = best.argmax(axis=1), np.arange(len(best))
        worse = -best[rows, 1 - told] - self._look.colour_margin
        in_doubt = (worse > 0) & ((worse < _MUCH_WORSE) | (alike < _VERY_ALIKE))
        share = states[rows, 1 + told] / np.maximum(states[:, 1:3].sum(axis=1), 1e-12)
        return np.asarray(in_doubt & (share < _HARDLY) & (np.abs(lamp) <= _LIGHT_DECIDES), np.bool_)

    def _with_faces(self, states: Floats, explained: Floats) -> Floats:
        """The states, where marks that only one colour's faces explain speak for that colour."""
        best = np.stack([explained[:, kinds].max(axis=1) for kinds in (LIGHT, DARK)], axis=1)
        told = np.maximum(_FACES_SAY * self._colours_tell * best, -_FACES_WEIGH)
        return _also_told(states, slice(1, 3), np.exp(told))

    def contents(self, probabilities: Floats, look: Looked = Looked.ONCE) -> tuple[Contents, ...]:
        """For each patch that was looked at in this way the contents that cannot be ruled out."""
        return self._rules[look].contents(probabilities)


def _counts(alike: Floats) -> Floats:
    """How much what faces explain counts where the best of them is so much `alike`."""
    share = (alike - _LIKE_NOTHING) / (_LIKE_A_FACE - _LIKE_NOTHING)
    return np.asarray(np.clip(share, _NEXT_TO_NOTHING, 1), np.float32)


def _coloured_for_both(states: Floats, network: Floats, colours_heard: float) -> Floats:
    """The states, where a piece is light or dark as both the weights and the network's head say, as far as it is heard.

    `network` are the head's probabilities `(n, CLASSES)`; the colours of this set it has never seen.
    """
    light = colours_heard * light_by_head(network) / 2
    return _also_told(states, slice(1, 3), np.exp(np.stack([light, -light], axis=1)))


def _occupied_for_both(states: Floats, network: Floats) -> Floats:
    """The states, where *empty*, *a piece* and *covered* are as likely as both the weights and the network's head say.

    `network` are the head's probabilities `(n, CLASSES)`. Which colour it is, is left to the states.
    """
    likely = occupied_by_head(network)[:, [0, 1, 1, 2]]
    weighed = np.maximum(states, LEAST_BELIEVED)
    weighed /= weighed.sum(axis=1, keepdims=True)
    return _also_told(weighed, slice(4), np.maximum(likely, LEAST_BELIEVED))


def occupied_by_head(network: Floats) -> Floats:
    """How likely *empty*, *a piece* and *covered* are, `(n, 3)`, from the head's probabilities `(n, CLASSES)`."""
    return np.stack([network[:, 0], network[:, 1:COVERED].sum(axis=1), network[:, COVERED]], axis=1)


def light_by_head(network: Floats) -> Floats:
    """By how much the head's probabilities `(n, CLASSES)` speak for a light piece, not a dark one: log odds `(n,)`."""
    light, dark = (np.maximum(network[:, kinds].sum(axis=1), LEAST_BELIEVED) for kinds in (LIGHT, DARK))
    return np.asarray(np.log(light / dark))


def _at_odds_about_a_piece(states: Floats, network: Floats) -> NDArray[np.bool_]:
    """Where one of the two of `_occupied_for_both` is sure of a piece, and the other one that there is none."""
    only_weights = np.minimum(states[:, 1:3].sum(axis=1), network[:, 0])
    only_head = np.minimum(network[:, 1:COVERED].sum(axis=1), states[:, 0])
    return np.asarray(np.maximum(only_weights, only_head) > _SURE, np.bool_)


def _also_told(states: Floats, among: slice, likely: Floats) -> Floats:
    """The states, with some of them weighed by how `likely` each is besides; together they stay as likely as before."""
    told = states.copy()
    told[:, among] *= likely
    whole = np.maximum(told[:, among].sum(axis=1, keepdims=True), 1e-12)
    told[:, among] *= states[:, among].sum(axis=1, keepdims=True) / whole
    return told
