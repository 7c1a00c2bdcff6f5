"""What is known of one set and one camera before the first game: the file that calibration writes and play reads.

A profile is JSON with ``"version": 1``. Nothing in it is guessed over: an unknown version, an unknown field or a bad
value is a `ProfileError` that names the field.
"""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from companion.errors import LayoutError, ProfileError
from companion.files import read_whole, write_whole
from companion.rules import Layout, Variant

if TYPE_CHECKING:
    from pathlib import Path

Finite = Annotated[float, Field(allow_inf_nan=False)]
Point = tuple[Finite, Finite]
"""x and y in pixels of the upright picture."""


def _is_base64(text: str) -> str:
    try:
        base64.b64decode(text, validate=True)
    except ValueError as error:
        raise ValueError("it is not Base64") from error
    return text


Base64 = Annotated[str, AfterValidator(_is_base64)]


class EnrolledFace(BaseModel):
    """The top of one enrolled piece."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    piece: Annotated[str, Field(pattern=r"^(light|dark) (straight|diagonal|pusher|puller)$")]
    picture: Base64
    """A PNG."""


Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Light = Annotated[float, Field(ge=-20, le=20)]
"""What no light is brighter or darker than."""


class EnrolledLight(BaseModel):
    """How closely the squares of a board agree about its light; understood by `companion.vision.light`.

    How many numbers there are, and of what, is another matter with each way to compare faces: `Enrolment.backbone`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    spread: Annotated[tuple[Finite, ...], Field(max_length=100)]
    """The covariance of what pieces say that the others do not foresee, 6 by 6; squares of hundreds of grey levels."""
    empty: tuple[Light, Light, Light]
    """The colour of an empty square in the light of enrolment, B, G and R, in hundreds of grey levels."""
    empty_spread: Annotated[tuple[Finite, ...], Field(min_length=9, max_length=9)]
    """The covariance of that, 3 by 3, in the same units as `spread`."""
    trust: Annotated[float, Field(ge=0, le=2)]
    """How far the colours that follow from it are to be believed."""


Margin = Annotated[float, Field(ge=0.01, le=100)]
"""A difference of logarithms of what is left unexplained."""


class Enrolment(BaseModel):
    """What is known of a set's looks: written by ``calibrate enrol``, understood by `companion.vision.enrolled`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1] = 1
    backbone: str
    """The fingerprint of the network that it was made with."""
    faces: Annotated[tuple[EnrolledFace, ...], Field(min_length=8, max_length=64)]
    weights: Base64
    """Little-endian floats of 4 bytes."""
    margin: Margin
    """How much worse the faces of a kind have to explain a piece than the best of its colour to make it improbable."""
    others_say: Annotated[float, Field(ge=0, le=1)] = 0.0
    """How much what the faces of the other colour explain tells of the kind: where both colours bear the same marks."""
    colour_margin: Margin = 0.2
    """How much worse all faces of a colour have to explain it than the other colour's, to speak against the colour."""
    colours_heard: Annotated[float, Field(ge=0, le=1)] = 0.0
    """How much counts what the network says of colours, which it has learnt from other sets."""
    least_alike: Annotated[float, Field(ge=-1, le=1)]
    as_likely: Annotated[float, Field(ge=-1, le=1)] = 0.0
    """What is as like one of the faces as this is as likely a piece as an empty square."""
    likelier: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    """By how much the logarithm of these odds grows with the likeness; 0 where it was not learnt."""
    light: EnrolledLight | None = None
    """What the light tells of colours, if it was learnt."""


Span = Annotated[float, Field(ge=1e-3, le=1e4)]
"""A distance along the direction in which the colours of cubes differ."""


class EnrolledCubes(BaseModel):
    """What is known of plain cubes: written by ``calibrate enrol``, understood by `companion.vision.cubes`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1] = 1
    backbone: str
    """The fingerprint of the network that they were enrolled with."""
    states: Base64
    """What tells empty, a cube and covered, as little-endian floats of 4 bytes."""
    direction: Base64
    """The direction in which the two colours differ, likewise."""
    middle: Annotated[float, Field(ge=-1e4, le=1e4)]
    """Halfway between the colours along it, in the usual light."""
    half: Span
    """How far each colour lies from there; light ones lie above."""
    own: Span
    """The standard deviation of a cube from its like on the same board."""
    shift: Span
    """That of the middle from board to board."""
    stretch: Annotated[float, Field(gt=0, le=5)]
    """That of the logarithm of `half` from board to board."""


Bend = Annotated[float, Field(ge=-1000, le=1000)]
Pixels = Annotated[int, Field(ge=64, le=100_000)]


class LensModel(BaseModel):
    """How a camera's lens bends lines: written by ``calibrate lens``, understood by `companion.vision.lens`.

    The model is Brown's (1971), as OpenCV has it; pixels are those of an upright picture of `size`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1] = 1
    size: tuple[Pixels, Pixels]
    """Width and height of the pictures that it was measured in."""
    focal: tuple[Positive, Positive]
    """Focal length, in pixels across and down."""
    centre: tuple[Finite, Finite]
    """Where the lens's axis meets the picture, x and y."""
    distortion: tuple[Bend, Bend, Bend, Bend, Bend]
    """k1, k2, p1, p2, k3."""
    error: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    """Root mean square distance, in pixels, of what was seen from where the model says it is."""


class EnrolledCard(BaseModel):
    """The face of one enrolled card of the Green Box."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["straight", "diagonal", "pusher", "puller"]
    picture: Base64
    """A PNG."""

    @property
    def png(self) -> bytes:
        """The picture's file."""
        return base64.b64decode(self.picture)


class Profile(BaseModel):
    """One set in front of one camera. Every field but the version may be left out."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1] = 1
    name: str = ""
    """What people call it."""
    layout: str = "4x4"
    """The board, by name or drawing."""
    variant: Variant = "standard"
    corners: Annotated[tuple[Point, ...], Field(min_length=4, max_length=4)] | None = None
    """The board's outer corners at a1, d1, d4, a4 in pixels of the upright picture, for a camera that never moves."""
    enrolment: Enrolment | None = None
    """How its pieces look, if they were enrolled."""
    cubes: EnrolledCubes | None = None
    """How its cubes look, if they were enrolled."""
    lens: LensModel | None = None
    """How the camera's lens bends lines, if it was measured."""
    cards: Annotated[tuple[EnrolledCard, ...], Field(max_length=4)] = ()
    """How its cards look, if they were enrolled."""

    @model_validator(mode="after")
    def _has_one_set(self) -> Self:
        if self.enrolment is not None and self.cubes is not None:
            raise ValueError("it has enrolment and cubes: a set is of pieces with marks or of plain cubes, not both")
        return self

    @field_validator("layout")
    @classmethod
    def _is_a_board(cls, drawing: str) -> str:
        try:
            Layout.parse(drawing)
        except LayoutError as error:
            raise ValueError(str(error)) from error
        return drawing

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """The profile in a file.

        Raises:
            ProfileError: if the file cannot be read, is no JSON, or a field is unknown or bad; the message names it.
        """
        try:
            told: Any = json.loads(read_whole(path, "utf-8-sig"))
        except OSError as error:
            raise ProfileError(f"the profile {path} cannot be read: {error.strerror}") from error
        except (ValueError, RecursionError) as error:
            raise ProfileError(f"the profile {path} is not JSON: {error}") from error
        if not isinstance(told, dict) or "version" not in told:
            raise ProfileError(f'the profile {path} has no "version"; this program reads version 1')
        try:
            return cls.model_validate(told)
        except ValidationError as error:
            first = error.errors()[0]
            where = f"has a bad field {field!r}" if (field := ".".join(map(str, first["loc"]))) else "makes no sense"
            why = first["ctx"]["error"] if first["type"] == "value_error" else first["msg"]
            raise ProfileError(f"the profile {path} {where}: {why}") from error

    def write(self, path: str | Path) -> None:
        """Keep the profile in a file; what was in it is lost only when all is written.

        Raises:
            ProfileError: if it cannot be written.
        """
        try:
            write_whole(path, self.model_dump_json(indent=2) + "\n")
        except OSError as error:
            raise ProfileError(f"the profile {path} cannot be written: {error.strerror}") from error
