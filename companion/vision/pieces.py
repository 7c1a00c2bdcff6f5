"""What lies on each square: a small network's judgement, turned into sets that keep what cannot be ruled out.

Patches (`companion.vision.rectify.patches`) go in, toned by their board, and with a channel for what hardly differs
from its surroundings (`with_relief`). A backbone gives each patch an embedding; a head compares it with those of the
whole board (`companion.vision.context`) and answers with a probability for each content and for *covered*: a hand or a
thing over the square. Probabilities leave this module only as conformal sets: `SetRule` holds thresholds calibrated on
boards that training never saw; the card beside the models says how often the truth is ruled out all the same.

The marks look the same after a quarter turn and in a mirror. Therefore patches may be turned until the side away from
the camera is on top: the tops of thick pieces are then always shifted upwards. And each patch may be looked at in the
mirror as well: who looks twice may rule out more, and who reads a photograph, in which all pieces lie at the same time
(`companion.vision.supply`), more still (`Looked`).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import Enum
from importlib import resources
from typing import TYPE_CHECKING, Final

import cv2
import numpy as np

from companion.errors import VisionError
from companion.readings import ALL_CONTENTS
from companion.rules import Colour, Kind
from companion.vision import networks
from companion.vision.context import Context, softmax
from companion.vision.rectify import PATCH

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from companion.readings import Contents

    Floats = NDArray[np.float32]
    Patches = NDArray[np.uint8]

EMBEDDING: Final = 64
"""Length of a square's embedding."""
CHANNELS: Final = 4
"""Of the network's input: B, G, R, and what stands out."""
COVERED: Final = len(ALL_CONTENTS)
"""The class after all contents: a hand, or another thing, is over the square."""
CLASSES: Final = COVERED + 1
_GROUPS: Final = (0, 1, 5)
"""Where empty, light and dark begin among `ALL_CONTENTS`."""
FLATTEST: Final = 12.0
"""The least spread of a board's grey levels that is believed."""
_UNHEARD_OF = 1e-7
_RINGS = 0.02
"""Both pusher and puller are rings, and each maker draws them in other sizes, with other things in them: where one is
likeliest the other is ruled out only if it is less likely than this, too. Of 10,234 drawn squares 2 are less clear for
it; of 811 in pictures that another renderer made 9 are, and 3 more that were told wrongly."""
_OTHER_RING = {3: 4, 4: 3, 7: 8, 8: 7}
"""Of the same colour, among `ALL_CONTENTS`."""
AROUND: Final = 11
"""A pixel's surroundings, in pixels of a patch: a quarter of a square."""
FAINTEST: Final = 0.03
"""What differs by less than this part of the board's spread does not stand out."""


@dataclass(frozen=True, slots=True)
class Tone:
    """How bright and how contrasty a board is as a whole; squares are seen relative to it."""

    mean: float
    spread: float
    cast: tuple[float, float, float]
    """The mean of each channel, B, G and R: what colour the light is, more or less."""

    @classmethod
    def of(cls, patches: Patches) -> Tone:
        """The tone of a board's patches `(n, PATCH, PATCH, 3)`."""
        channels = patches[:, ::3, ::3].reshape(-1, 3).T.astype(np.float32, order="C")
        blue, green, red = channels.mean(axis=1).tolist()
        grey = channels.mean(axis=0)
        return cls(float(grey.mean()), max(float(grey.std()), FLATTEST), (blue, green, red))

    def apply(self, patches: Patches) -> Floats:
        """The patches relative to the tone, `(n, 3, PATCH, PATCH)`."""
        toned = (patches.astype(np.float32) - self.mean) * np.float32(1 / self.spread)
        return np.ascontiguousarray(toned.transpose(0, 3, 1, 2))


class Looked(Enum):
    """How a square was looked at, before it is told what may lie there; the values are those of the model's card."""

    ONCE = "once"
    """Straight only."""
    TWICE = "twice"
    """In the mirror as well."""
    PHOTOGRAPH = "photograph"
    """Twice, and then judged together by what a set of pieces allows (`companion.vision.reader.photographed`)."""


@dataclass(frozen=True, slots=True)
class SetRule:
    """When a content can be ruled out: it is less likely than `least`. Calibrated with the model, for each `Looked`."""

    least: float
    covered: float
    """From this probability of *covered* on, nothing is ruled out."""
    known: float = 0.7
    """Who is less sure of a square's being empty, light or dark asks for that, and for the mark, one by one."""
    bare: float = 1.0
    """Where a piece is likeliest, none lies there already if that is as likely as this share of `least`."""

    def contents(self, probabilities: Floats) -> tuple[Contents, ...]:
        """The set of each square, from probabilities `(n, CLASSES)`."""
        top = probabilities[:, :COVERED].argmax(axis=1)
        kept = self.likely(probabilities) >= self.least
        kept[np.arange(len(kept)), top] = True
        for ring, other in _OTHER_RING.items():
            kept[:, other] |= (top == ring) & (probabilities[:, other] >= _RINGS)
        kept[probabilities[:, COVERED] >= self.covered] = True
        return tuple(sum(1 << int(i) for i in np.flatnonzero(row)) for row in kept)

    @classmethod
    def of(cls, card: dict[str, float]) -> SetRule:
        """The rule that a model's card tells."""
        return cls(**card)

    def likely(self, probabilities: Floats) -> Floats:
        """How likely each content is, `(n, COVERED)`, from probabilities `(n, CLASSES)`.

        That is its own probability, or, where it is not known whether the square is empty, light or dark, that of the
        least likely of what makes it up: whether there is a piece of this colour, and, whatever the colour, this mark.
        """
        alone = probabilities[:, :COVERED]
        shares = np.add.reduceat(alone, _GROUPS, axis=1)
        pieces = alone[:, 1:].reshape(len(alone), len(Colour), len(Kind))
        marks = pieces.sum(axis=1) / np.maximum(pieces.sum(axis=(1, 2)), _UNHEARD_OF)[:, None]
        parts = np.concatenate([shares[:, :1], *(np.minimum(marks, shares[:, [i]]) for i in (1, 2))], axis=1)
        unknown = shares.max(axis=1, keepdims=True) < self.known
        likely = np.where(unknown, np.maximum(alone, parts), alone)
        likely[:, 0] /= self.bare
        return np.asarray(likely, np.float32)


class Recogniser:
    """Reads patches. Not for sharing between threads: OpenCV's networks keep their buffers."""

    sides: Final = 2
    """A patch tells more to who looks at it in the mirror too."""
    asks_spares: Final = True
    """What a set looks like is known better with its other pieces in sight."""
    looks_beside: Final = True
    """Thin marks show better here or there."""
    evens_light: Final = True
    """The edge of a shadow makes dark pieces of light ones."""

    def __init__(self, backbone: bytes, head: bytes, rules: Mapping[Looked, SetRule]) -> None:
        self._backbone, self._context = networks.load(backbone), Context(head)
        self._rules = rules

    @classmethod
    def bundled(cls) -> Recogniser:
        """The recogniser that comes with the program: trained on drawn boards only, see `models/pieces.json`."""
        models = resources.files("companion.vision") / "models"
        card = json.loads((models / "pieces.json").read_text(encoding="utf-8"))
        rules = {look: SetRule.of(card["sets"][look.value]) for look in Looked}
        return cls(bundled_backbone(), (models / "head.npz").read_bytes(), rules)

    def recognise(self, patches: Patches, *, mirror_too: bool = False) -> Floats:
        """Probabilities `(n, CLASSES)` in the order of `ALL_CONTENTS`, then *covered*, for all squares of one board.

        `patches` is `(n, PATCH, PATCH, 3)` BGR, with the side away from the camera on top. With `mirror_too` every
        patch is looked at in the mirror as well.
        """
        _check(patches)
        tone = Tone.of(patches)
        straight = self.judge(self.embed(patches, tone))
        return mean_look(straight, self.judge(self.embed(mirrored(patches), tone))) if mirror_too else straight

    def embed(self, patches: Patches, tone: Tone) -> Floats:
        """Embeddings `(n, EMBEDDING)` of any patches of a board that has this tone."""
        _check(patches)
        self._backbone.setInput(with_relief(tone.apply(patches)))
        return np.array(self._backbone.forward(), np.float32).reshape(len(patches), EMBEDDING)

    def judge(self, embeddings: Floats) -> Floats:
        """Probabilities `(n, CLASSES)` from the embeddings of all squares of one board."""
        return softmax(self._context.scores(embeddings))

    def contents(self, probabilities: Floats, look: Looked = Looked.ONCE) -> tuple[Contents, ...]:
        """What each square may hold that was looked at in this way; a covered square may hold anything."""
        return self._rules[look].contents(probabilities)


def bundled_backbone() -> bytes:
    """The network that gives embeddings, as it comes with the program."""
    return (resources.files("companion.vision") / "models" / "backbone.onnx").read_bytes()


def mean_look(*looks: Floats) -> Floats:
    """The probabilities `(n, classes)` of what was looked at so often: their geometric mean; those of one look stay."""
    if len(looks) == 1:
        return looks[0]
    return softmax(np.mean([np.log(np.maximum(look, _UNHEARD_OF)) for look in looks], axis=0))


def with_relief(toned: Floats) -> Floats:
    """The network's input, `(n, 4, PATCH, PATCH)`: what `Tone.apply` gives, and what stands out from its surroundings.

    A mark burnt into walnut differs by a few levels from the wood, where light pieces and the board differ by many. In
    the fourth channel every pixel's grey is told as that many standard deviations of the grey around it.
    """
    grey = toned.mean(axis=1)
    relief = np.stack([_standing_out(patch) for patch in grey])
    return np.concatenate([toned, relief[:, None]], axis=1)


def _standing_out(grey: Floats) -> Floats:
    size = (AROUND, AROUND)
    mean = cv2.blur(grey, size)
    variance = cv2.sqrBoxFilter(grey, -1, size) - mean * mean
    return np.asarray((grey - mean) / np.sqrt(np.maximum(variance, 0) + FAINTEST**2), np.float32)


def mirrored(patches: Patches) -> Patches:
    """The patches with left and right exchanged; what is away from the camera stays on top."""
    return np.ascontiguousarray(patches[:, :, ::-1])


def _check(patches: Patches) -> None:
    if patches.ndim != 4 or patches.shape[1:] != (PATCH, PATCH, 3) or len(patches) == 0:  # noqa: PLR2004
        raise VisionError(f"patches have shape {patches.shape}; (n, {PATCH}, {PATCH}, 3) with n > 0 is needed")
