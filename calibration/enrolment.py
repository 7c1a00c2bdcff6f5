"""What ``companion calibrate enrol`` learns from the empty board and the sixteen pieces of a set.

The faces are cut out of the picture and kept. The weights that tell empty, light, dark and covered from the network's
embedding are fitted on boards that a `PieceComposer` puts together. Then each piece on these is recognised by its twin,
the other piece of its kind, and by those of the other colour: what that shows of how well kinds and colours can be told
apart becomes the margins within which little is ruled out, and that of the kinds is told to the owner.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import cv2
import numpy as np

from calibration.composing import COVERED, PieceComposer
from companion.errors import CompanionError
from companion.profile import EnrolledFace, EnrolledLight, Enrolment
from companion.readings import ALL_CONTENTS
from companion.rules import Colour, Kind, Piece
from companion.vision.enrolled import AT_MARGIN, STATES, fingerprint, light_by_head, traits
from companion.vision.faces import Face, FaceMatcher, best_of_content, by_content, by_kind
from companion.vision.light import FEATURES, Agreement, Views, left_by_others, light_of, ways_of
from companion.vision.pieces import EMBEDDING, Tone
from companion.vision.rectify import patches

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from calibration.composing import LocatedPicture
    from companion.rules import Layout
    from companion.vision.pieces import Recogniser

    Bytes = NDArray[np.uint8]
    Floats = NDArray[np.float32]

ARRANGEMENT = tuple(
    Piece(colour, kind)
    for colour in Colour
    for kinds in ((Kind.STRAIGHT, Kind.DIAGONAL), (Kind.PUSHER, Kind.PULLER))
    for kind in kinds
    for _ in range(2)
)
"""The sixteen pieces of the enrolment picture, in the order of the squares."""
BOARDS = 120
"""Boards put together to learn from."""
_STEPS = 800
_SLOW = 1e-4
_RATE = 0.03
_LEAST_MARGIN, _LEAST_COLOUR_MARGIN = 0.2, 0.5
"""However well composed boards are read: in other light a colour looks more unlike itself than a mark does."""
_WORST = 0.98
"""The margin covers all but this share of what goes wrong between twins."""
_OTHERS_SAY = (0.0, 0.25, 0.5, 1.0)
"""How much the faces of the other colour may tell of the kind."""
_LEAST_ALIKE = 0.35
_LEAST_SPREAD = 0.05
"""Of likeness, however alike all pieces or all empty squares of the composed boards are."""
_FEWEST = 3
"""Pieces on a board that say what its light is, and boards with as many."""
_LEAST_VARIANCE = 1e-4
"""Of what squares say about their light, however well they agree: one grey level."""
_USUAL_SPREAD = 0.02
"""The variance of what squares say about their light, before anything is learnt: fourteen grey levels."""
_ROUNDS = 2
_AN_ERROR = 4.0
"""However well colours are told on the composed boards, whoever told them is taken to have erred by such odds once."""


class EnrolmentError(CompanionError, ValueError):
    """Pictures that a set cannot be enrolled from; says what is wrong with them."""


@dataclass(frozen=True, slots=True)
class Pair:
    """How well two kinds of one colour can be told apart."""

    one: Piece
    other: Piece
    apart: float
    """How much better the right face explains a piece than the other one, all but the worst cases; see `by_kind`."""


@dataclass(frozen=True, slots=True)
class Learnt:
    """An enrolment, and how well the set can be told apart."""

    enrolment: Enrolment
    pairs: tuple[Pair, ...]


@dataclass(frozen=True, slots=True)
class _Lesson:
    """Squares of composed boards: what they show and what lies there."""

    traits: Floats
    alike: Floats
    """How like it the best face of each content is, but for the one that lies there itself, `(n, contents)`."""
    contents: NDArray[np.int64]
    light_by_head: Floats
    """What the network's head says of the colour of each, `(n,)`; see `companion.vision.enrolled.light_by_head`."""
    boards: tuple[tuple[Views, NDArray[np.int64]], ...]
    """What the squares of each board say about its light, and their contents."""

    @property
    def pieces(self) -> NDArray[np.bool_]:
        """Which of the squares show a piece."""
        return shows_a_piece(self.contents)

    @property
    def explained(self) -> Floats:
        """`by_content` of the squares."""
        return by_content(self.alike)

    @property
    def right(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """For each piece which contents, but for *empty*, are right, and which are of the right colour."""
        contents, own = np.arange(1, COVERED), self.contents[self.pieces]
        return contents[None] == own[:, None], state_of(contents)[None] == state_of(own)[:, None]


@dataclass(frozen=True, slots=True)
class _Kinds:
    """A way to tell the kinds of a lesson's pieces, and how well it does."""

    others_say: float
    explained: Floats
    """`by_kind` of the lesson's squares."""
    margin: float

    @classmethod
    def told_by(cls, lesson: _Lesson, others_say: float) -> Self:
        """The way that asks the faces of the other colour so much."""
        explained = by_kind(lesson.explained, others_say)
        right, of_colour = lesson.right
        lost = _lost(explained[lesson.pieces][:, 1:], of_colour & ~right, right)
        return cls(others_say, explained, _LEAST_MARGIN + lost)

    def surprise(self, lesson: _Lesson) -> float:
        """How little the kinds of the pieces are expected, all in all: the mean of -log."""
        right, of_colour = lesson.right
        scores = self.explained[lesson.pieces][:, 1:] * (-np.log(AT_MARGIN) / self.margin)
        return float((np.logaddexp.reduce(np.where(of_colour, scores, -np.inf), axis=1) - scores[right]).mean())


def refuse_other_boards(layout: Layout) -> None:
    """Raise `EnrolmentError` if the layout has not the sixteen squares of the arrangement."""
    if len(layout) != len(ARRANGEMENT) or layout.rows != layout.columns:
        raise EnrolmentError(
            f"a set is enrolled on the 4x4 board, and not on {layout}: lay it out there and give --layout 4x4; its "
            "profile can be used on any other"
        )


def learn(
    empty: LocatedPicture,
    pieces: LocatedPicture,
    layout: Layout,
    recogniser: Recogniser,
    boards: int = BOARDS,
) -> Learnt:
    """Learn a set from its two pictures, on so many composed boards.

    Raises:
        EnrolmentError: if the layout has not the sixteen squares of the arrangement.
    """
    refuse_other_boards(layout)
    composer = PieceComposer.of(empty, pieces, ARRANGEMENT, layout)
    faces = tuple(Face(cutout.content, cutout.face()) for cutout in composer.cutouts)
    lesson = _lesson(composer, FaceMatcher(faces), recogniser, boards)
    kinds = min(
        (_Kinds.told_by(lesson, others_say) for others_say in _OTHERS_SAY), key=lambda way: way.surprise(lesson)
    )
    as_likely, likelier = _odds_of_a_piece(lesson)
    known = lesson.contents >= 0
    enrolment = Enrolment(
        backbone=fingerprint(),
        faces=tuple(
            EnrolledFace(piece=str(ALL_CONTENTS[face.content]), picture=png_of(face.picture)) for face in faces
        ),
        weights=encoded(fit_states(lesson.traits[known], state_of(lesson.contents[known]), STATES)),
        margin=round(kinds.margin, 3),
        colour_margin=round(_margin_of_colours(lesson), 3),
        others_say=kinds.others_say,
        colours_heard=_colours_heard(lesson),
        least_alike=_LEAST_ALIKE,
        as_likely=round(as_likely, 3),
        likelier=round(likelier, 1),
        light=_light(lesson),
    )
    return Learnt(enrolment, tuple(_pairs(lesson, kinds.explained)))


def png_of(picture: Bytes) -> str:
    """A picture as a profile keeps it: a PNG in Base64."""
    _, encoded = cv2.imencode(".png", picture)
    return base64.b64encode(encoded.tobytes()).decode()


def _lesson(composer: PieceComposer, matcher: FaceMatcher, recogniser: Recogniser, boards: int) -> _Lesson:
    rng = np.random.default_rng(1)
    seen, alike, contents, head, views = [], [], [], [], []
    for _ in range(boards):
        board = composer.compose(rng)
        cut = patches(board.view, composer.layout, composer.away)
        seen.append(traits(recogniser, cut, Tone.of(cut)))
        contents.append(board.contents)
        head.append(light_by_head(recogniser.judge(seen[-1][:, :EMBEDDING])))
        compared = matcher.compare(cut)
        laid = np.flatnonzero(board.sources >= 0)
        compared.alike[laid, board.sources[laid]] = -1
        alike.append(best_of_content(compared.alike, matcher.contents))
        views.append((Views.of(matcher, compared), board.contents))
    return _Lesson(
        traits=np.concatenate(seen),
        alike=np.concatenate(alike),
        contents=np.concatenate(contents),
        light_by_head=np.concatenate(head),
        boards=tuple(views),
    )


def encoded(numbers: NDArray[np.floating]) -> str:
    """Numbers as a profile keeps them."""
    return base64.b64encode(numbers.astype("<f4").tobytes()).decode()


def fit_states(told: Floats, states: NDArray[np.int64], count: int) -> Floats:
    """Multinomial logistic regression from traits `(n, traits)` to `count` states `(n,)`; `(count, traits + 1)`."""
    seen = told.astype(np.float64)
    mean, spread = seen.mean(axis=0), seen.std(axis=0) + 1e-6
    toned = np.column_stack([(seen - mean) / spread, np.ones(len(seen))])
    weights, wanted = np.zeros((count, toned.shape[1])), np.eye(count)[states]
    first, second = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, _STEPS + 1):
        scores = toned @ weights.T
        grown = np.exp(scores - scores.max(axis=1, keepdims=True))
        slope = (grown / grown.sum(axis=1, keepdims=True) - wanted).T @ toned / len(toned) + _SLOW * weights
        first, second = 0.9 * first + 0.1 * slope, 0.99 * second + 0.01 * slope**2
        weights -= _RATE * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.99**step)) + 1e-8)
    scaled = weights[:, :-1] / spread
    return np.column_stack([scaled, weights[:, -1] - scaled @ mean]).astype(np.float32)


def shows_a_piece(contents: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which of these indices into `ALL_CONTENTS`, `COVERED` and less than 0 stand for pieces."""
    return (contents > 0) & (contents < COVERED)


def state_of(contents: NDArray[np.int64]) -> NDArray[np.int64]:
    """0 empty, 1 light, 2 dark, 3 covered, of indices into `ALL_CONTENTS` and `COVERED`; -1 is none of these."""
    per_colour = len(Kind)
    return np.where(contents == 0, 0, np.where(contents <= per_colour, 1, np.where(contents < COVERED, 2, 3)))


def _margin_of_colours(lesson: _Lesson) -> float:
    """By how much the best face of the other colour may be better than the best of the right one."""
    _, of_colour = lesson.right
    lost = _lost(lesson.explained[lesson.pieces][:, 1:], ~of_colour, of_colour)
    return max(_LEAST_COLOUR_MARGIN, _LEAST_MARGIN + lost)


def _colours_heard(lesson: _Lesson) -> float:
    """To which power the odds are right that the network's head gives of colours.

    It has learnt nothing from these boards, so what it knows of this set's colours shows on them.
    """
    right = np.where(state_of(lesson.contents[lesson.pieces]) == 1, 1, -1)
    return _trust(right * lesson.light_by_head[lesson.pieces], np.linspace(0, 1, 21))


def _lost(worth: Floats, wrong: NDArray[np.bool_], right: NDArray[np.bool_]) -> float:
    """How much better wrong ones do than right ones, all but the worst cases; 0 where they do not."""
    best, rival = (np.where(those, worth, -np.inf).max(axis=1) for those in (right, wrong))
    return max(0.0, float(np.quantile(rival - best, _WORST)))


def _odds_of_a_piece(lesson: _Lesson) -> tuple[float, float]:
    """The likeness at which a piece is as likely as an empty square, and how fast its log odds grow from there.

    Both are taken for normally distributed, with the same spread.
    """
    alike = lesson.alike.max(axis=1)
    empty, pieces = alike[lesson.contents == 0], alike[lesson.pieces]
    variance = np.average([empty.var(), pieces.var()], weights=[len(empty), len(pieces)])
    likelier = (pieces.mean() - empty.mean()) / max(float(variance), _LEAST_SPREAD**2)
    return float(pieces.mean() + empty.mean()) / 2, max(0.0, float(likelier))


def _light(lesson: _Lesson) -> EnrolledLight | None:
    """How closely the squares of a board agree about its light; None if boards with enough pieces are too few."""
    told = [_seen_pieces(views, contents) for views, contents in lesson.boards]
    bare = [views.empty[contents == 0] for views, contents in lesson.boards]
    enough = [i for i, (_, colours) in enumerate(told) if len(colours) >= _FEWEST and len(bare[i])]
    if len(enough) < _FEWEST:
        return None
    own = [views.as_they_are(colours) for views, colours in (told[i] for i in enough)]
    spread: Floats = np.float32(_USUAL_SPREAD) * np.eye(FEATURES, dtype=np.float32)
    for _ in range(_ROUNDS):
        spread = _spread(np.concatenate([left_by_others(*pieces, spread) for pieces in own]))
    usual, apart = _empty([bare[i] for i in enough], [light_of(*pieces, spread) for pieces in own])
    agreement = Agreement(spread, usual, _spread(apart), 1.0)
    odds = [agreement.against_others(*told[i]) for i, (_, colours) in enumerate(told) if len(colours) >= _FEWEST]
    return EnrolledLight(
        spread=tuple(np.round(spread, 6).ravel().tolist()),
        empty=tuple(np.round(usual, 4).tolist()),
        empty_spread=tuple(np.round(agreement.empty_spread, 6).ravel().tolist()),
        trust=_trust(np.concatenate(odds), np.linspace(0.05, 1.5, 30)),
    )


def _seen_pieces(views: Views, contents: NDArray[np.int64]) -> tuple[Views, NDArray[np.int64]]:
    """What the pieces of a board say about its light, and their colours: 0 is light, 1 is dark."""
    shown = shows_a_piece(contents)
    return views.those(shown), state_of(contents[shown]) - 1


def _empty(bare: list[Floats], lights: list[Floats]) -> tuple[Floats, Floats]:
    """The colour of an empty square in the light of enrolment, and what the lights leave unexplained."""
    seen, light = np.concatenate(bare), np.repeat(lights, [len(each) for each in bare], axis=0)
    usual: Floats = np.median(seen, axis=0).astype(np.float32)
    for _ in range(_ROUNDS):
        usual = np.median(seen - light @ ways_of(usual)[:3].T, axis=0).astype(np.float32)
    return usual, (seen - usual - light @ ways_of(usual)[:3].T).astype(np.float32)


def _spread(left: Floats) -> Floats:
    return np.asarray(left.T @ left / len(left) + _LEAST_VARIANCE * np.eye(left.shape[1]), np.float32)


def _trust(odds: NDArray[np.floating], shares: NDArray[np.floating]) -> float:
    """By which of `shares` the log odds have to be multiplied to be right as often as they say: logistic regression."""
    losses = [np.logaddexp(0, -share * odds).sum() + np.logaddexp(0, share * _AN_ERROR) for share in shares]
    return round(float(shares[int(np.argmin(losses))]), 2)


def _pairs(lesson: _Lesson, explained: Floats) -> list[Pair]:
    found = []
    for colour in Colour:
        for i, one in enumerate(Kind):
            for other in list(Kind)[i + 1 :]:
                first, second = (ALL_CONTENTS.index(Piece(colour, kind)) for kind in (one, other))
                apart = [
                    explained[lesson.contents == own][:, own] - explained[lesson.contents == own][:, rival]
                    for own, rival in ((first, second), (second, first))
                ]
                share = float(np.quantile(np.concatenate(apart), 1 - _WORST))
                found.append(Pair(Piece(colour, one), Piece(colour, other), share))
    return found
