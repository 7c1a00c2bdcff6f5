"""What stands on one table: a board, a set, pieces, a camera, lamps and hands.

Lengths are in squares, with the origin at the board's corner a1, x along the columns, y away from Light and z up
from the board's face. `chance` draws scenes, and `render` makes pixels of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np

from companion.rules import Colour, Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from calibration.training.marks import MarkStyle
    from calibration.training.things import Thing

    Albedo = tuple[float, float, float]

SIDE = 4
"""Squares along one side of the boards that are drawn."""
CORNERS = np.array([[0, 0], [SIDE, 0], [SIDE, SIDE], [0, SIDE]], np.float64)
"""The board's outer corners at a1, d1, d4, a4."""
KINDS = tuple(Kind)
_MIDDLING = (0.07, 0.3)
_DARK = 0.15


class Family(Enum):
    """What kind of set it is."""

    DIAGRAM = "diagram"
    HOPWOOD = "hopwood"
    CUBES = "cubes"


@dataclass(frozen=True, slots=True)
class Body:
    """What all pieces of one colour are made of."""

    colour: Albedo
    grain: float
    edge: Albedo
    ink: Albedo
    ink_strength: float
    """How far the mark's colour replaces the body's."""
    relief: float
    """Light and shade on the mark's edges, where it is engraved or raised."""
    gloss: float
    label: Label | None = None
    """What is glued to the face, and bears the mark."""


@dataclass(frozen=True, slots=True)
class Label:
    """A sticker on a piece."""

    colour: Albedo
    half: float
    """Half its width, as a share of half the piece's."""
    round: bool


@dataclass(frozen=True, slots=True)
class SetLook:
    """One set of pieces."""

    family: Family
    style: MarkStyle
    bodies: dict[Colour, Body]
    half: float
    """Half the width of a piece."""
    height: float
    round: bool
    corner: float
    """Radius of a square piece's corners."""
    blank: bool
    """No marks at all: only the colour can be told."""
    telling: bool
    """Whether a person could say which colour is the light one."""
    dome: float = 0.0
    """How steep faces are at their rims, as a rise over a run; 0 where they are flat."""
    foreign: dict[Kind, NDArray[np.float32]] | None = None
    """Marks of its own, as masks; a stranger knows none of them."""

    @property
    def telling_kinds(self) -> bool:
        """Whether a person could say which kind a piece is that shows its face."""
        return not self.blank and self.foreign is None


class Grid(Enum):
    """How the lines between squares are made."""

    NONE = "none"
    LINE = "line"
    GROOVE = "groove"
    RIDGE = "ridge"
    FRAMES = "frames"


@dataclass(frozen=True, slots=True)
class Knot:
    """Where a branch left the board's wood: a dark eye with rings around it; lengths in squares."""

    x: float
    y: float
    radius: float
    """Of the eye, along the grain."""
    squash: float
    """How wide it is across, as a share of that."""
    turn: float
    """Of the grain, in radians."""
    dark: float
    """How much of the wood's brightness is left in it."""
    rings: float
    """How strong the rings are, as a share of the wood's brightness."""
    seed: int
    """Of how uneven it is."""


@dataclass(frozen=True, slots=True)
class BoardLook:
    """The board."""

    plates: int
    """Plates along one side: 1 board, 2 (four plates of 2x2) or 4 (loose tiles)."""
    gap: float
    colours: tuple[Albedo, Albedo]
    checkered: bool
    """Single squares alternate; otherwise plates do."""
    grain: float
    grid: Grid
    line: float
    line_colour: Albedo
    dots: float
    """Radius of a dot in the middle of every square; 0 for none."""
    edge: Albedo
    edge_line: float
    """Width of a burnt or bevelled rim around each plate."""
    thickness: float
    corner: float
    gloss: float
    knots: tuple[Knot, ...] = ()


@dataclass(frozen=True, slots=True)
class Placed:
    """A piece on the table."""

    x: float
    y: float
    z: float
    turn: float
    colour: Colour
    kind: Kind
    square: int | None
    """The index of its square, or `None` for a spare piece or one in a hand."""
    face_down: bool = False
    """The mark is underneath."""


@dataclass(frozen=True, slots=True)
class Camera:
    """A pinhole that looks at the board."""

    tilt: float
    """Radians from straight above."""
    turn: float
    roll: float
    distance: float
    aim: tuple[float, float]
    scale: float
    """Pixels per square at the middle of the board."""


@dataclass(frozen=True, slots=True)
class Leaves:
    """The shadows of leaves, on the board and around it."""

    spots: tuple[tuple[float, float, float, float, float], ...]
    """Ellipses: middle x and y, both half axes, in squares, and the turn, in radians."""
    softness: float
    """Of their edges, in squares."""
    depth: float
    """How much of the lamp's light they take."""


@dataclass(frozen=True, slots=True)
class Light:
    """One lamp or window, and what the room gives."""

    lamp: tuple[float, float, float]
    lamp_colour: Albedo
    room_colour: Albedo
    softness: float
    """Width of a shadow's edge, in squares per height of one square."""
    glare: tuple[float, float, float, float] | None
    """Where a lamp is mirrored: x, y, radius, strength."""
    shade: tuple[float, float, float, float] | None
    """A shadow's straight edge across the table: angle, offset, softness, depth."""
    leaves: Leaves | None = None


@dataclass(frozen=True, slots=True)
class Lens:
    """What the camera does to the picture."""

    exposure: float
    gamma: float
    contrast: float
    saturation: float
    blur: float
    shake: tuple[float, float]
    noise: float
    noise_blur: float
    sharpen: float
    jpeg: int
    vignette: float


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything that `render` needs."""

    board: BoardLook
    pieces: SetLook
    placed: list[Placed]
    camera: Camera
    light: Light
    lens: Lens
    hands: int
    jitter: float
    """How far the corners handed to the recogniser are off, in squares."""
    askew: list[tuple[float, float, float]] = field(default_factory=list)
    """Per plate: x and y offset in squares, turn in radians."""
    things: list[Thing] = field(default_factory=list)
    """What lies on the board and is no piece."""


def plain(scene: Scene) -> bool:
    """Whether nothing makes the scene hard: no hand, within 45 degrees, 40 pixels a square, ordinary light and lens."""
    lens, camera = scene.lens, scene.camera
    seen_well = camera.tilt <= np.radians(45) and camera.scale >= 40 and scene.hands == 0
    lit_well = scene.light.glare is None and lens.exposure >= 0.25 and lens.noise <= 5
    sharp = lens.blur <= 0.03 * camera.scale and lens.shake == (0.0, 0.0)
    return bool(seen_well and lit_well and sharp and (scene.pieces.height <= 0.32 or scene.pieces.blank))


def colours_told(scene: Scene) -> bool:
    """Whether a person could say which of the pieces on the board are the light ones.

    Beside each other the brighter ones are. A colour that is alone on the board has to be clearly light or dark.
    """
    present = {piece.colour for piece in scene.placed if piece.square is not None}
    if len(present) != 1:
        return scene.pieces.telling
    lightness = luminance(scene.pieces.bodies[present.pop()].colour)
    return not _MIDDLING[0] < lightness < _MIDDLING[1]


def ordinary(pieces: SetLook) -> bool:
    """Whether light pieces are light and dark ones dark, as in most sets of two woods. Other sets are enrolled."""
    lightness = {colour: luminance(body.colour) for colour, body in pieces.bodies.items()}
    return lightness[Colour.LIGHT] > _MIDDLING[1] and lightness[Colour.DARK] < _DARK


def luminance(colour: Albedo) -> float:
    """The share of light that an albedo colour throws back."""
    blue, green, red = ((channel / 255) ** 2 for channel in colour)
    return 0.0722 * blue + 0.7152 * green + 0.2126 * red
