"""What commands that look at a board have in common: their options, and how eyes are put together."""

from __future__ import annotations

import contextlib
import math
import os
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from companion.commands._shared import is_given
from companion.errors import ProfileError, SourceSyntaxError, VisionError
from companion.profile import Profile
from companion.rules import MOST_SETS, FirstMove, Layout, LayoutError
from companion.saying import Saying

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator

    import numpy as np
    from numpy.typing import NDArray

    from companion.camera import VirtualCamera
    from companion.camera.frames import Clock
    from companion.readings import Source
    from companion.vision.board import BoardNotFound, BoardPose
    from companion.vision.cards import CardReader
    from companion.vision.lens import Optics
    from companion.vision.reader import BoardReader, Locator
    from companion.vision.reader import Recogniser as RecogniserOfPatches
    from companion.vision.video import VideoReader

GREEN_BOX = "green-box"


@dataclass(frozen=True, slots=True)
class Corners:
    """The board's outer corners as somebody gave them, or a profile does."""

    points: tuple[tuple[float, float], ...]
    """At a1, d1, d4, a4, x and y in pixels of the upright picture."""
    profile: str = ""
    """The file that they stand in; empty if somebody gave them."""
    layout: str = ""
    """The layout of that profile, whose corners they are."""

    def are_of(self, layout: Layout) -> bool:
        """Whether they are this layout's; who gives corners means those of the board that lies there."""
        return not self.layout or Layout.parse(self.layout) == layout

    def place(self, size: tuple[int, int]) -> BoardPose:
        """Where the board is in a picture of `size` (width, height).

        Raises:
            VisionError: if a board cannot have these corners there.
            ProfileError: likewise, if a profile has them.
        """
        from companion.vision.board import locate_given  # noqa: PLC0415 (OpenCV is slow to import)

        try:
            return locate_given(self.points, size)
        except VisionError as error:
            if not self.profile:
                raise
            why = Saying("the profile %(file)s has a bad field 'corners': %(why)s", file=self.profile, why=error.saying)
            raise ProfileError(why) from error


class CornersType(click.ParamType[Any]):
    """``"x,y x,y x,y x,y"``."""

    name = "corners"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Four points; or wrong usage, also if no picture, whatever its size, could show a board with these corners.

        Those of a profile are none of the usage: a `ProfileError`.
        """
        corners = value if isinstance(value, Corners) else Corners(_points(str(value)))
        if len(corners.points) != 4:  # noqa: PLR2004 (a board has as many)
            self.fail(
                f'{value!r} is not four points; write the corners at a1, d1, d4, a4 as "x,y x,y x,y x,y" in pixels',
                param,
                ctx,
            )
        try:
            corners.place((sys.maxsize, sys.maxsize))
        except VisionError as error:
            self.fail(str(error), param, ctx)
        return corners


def _points(text: str) -> tuple[tuple[float, float], ...]:
    """The points of ``"x,y x,y"``; none if one of them is no point."""
    try:
        points = tuple((float(x), float(y)) for x, y in (point.split(",") for point in text.split()))
    except ValueError:
        return ()
    return points if all(math.isfinite(number) for point in points for number in point) else ()


class LayoutType(click.ParamType[Any]):
    """A layout's name or drawing."""

    name = "layout"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The layout, or wrong usage."""
        if isinstance(value, Layout):
            return value
        try:
            return Layout.parse(value)
        except LayoutError as error:
            self.fail(str(error), param, ctx)


def profile_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """The option --profile, given to the command as `profile`; --layout, --variant and --corners default to its own."""

    def use(ctx: click.Context, _: click.Parameter, paths: tuple[str, ...]) -> Profile | None:
        if not paths:
            return None
        if len(paths) > 1:
            raise click.UsageError(
                "--profile is given twice; one file has to tell everything: calibrate enrol and calibrate lens add to "
                "the one that --profile names"
            )
        known = Profile.read(paths[0])
        corners = Corners(known.corners, paths[0], known.layout) if known.corners else None
        given = {"layout": known.layout, "variant": known.variant, "corners": corners}
        ctx.default_map = {**(ctx.default_map or {}), **given}
        return known

    return click.option(
        "--profile",
        metavar="FILE",
        multiple=True,
        is_eager=True,
        callback=use,
        help="What calibration has learnt of this set and camera; other options go before it.",
    )(command)


_KNOWS = {"enrolment": "its pieces", "cubes": "its cubes", "lens": "its lens", "corners": "its corners"}
"""The fields of a profile that took somebody's time, and what they tell."""


def refuse_output(output: str, kept: Profile, anew: Container[str], cards: Iterable[str] = ()) -> None:
    """Make sure, before anything is learnt, that a profile can be written to `output` and nothing is lost there.

    What is there already may only know what is `kept`, and what is learnt `anew`: fields of a profile, and `cards`.

    Raises:
        ProfileError: if something else is there, or a profile that knows more.
    """
    file = Path(output)
    if output == "-" or output.endswith(("/", os.sep)) or file.is_dir():
        raise ProfileError(f"{output} is no file: give -o the name of one, such as set.json")
    if not file.absolute().parent.is_dir():
        raise ProfileError(
            f"there is no folder {file.parent} to write {file.name} into: make it, or give -o another name"
        )
    if not file.is_file():
        return
    try:
        there = Profile.read(file)
    except ProfileError as error:
        raise ProfileError(f"{output} is there already and is no profile: give -o another name") from error
    lost = [
        what
        for field, what in _KNOWS.items()
        if field not in anew and getattr(there, field) and not getattr(kept, field)
    ]
    if there.layout not in (kept.layout, Profile().layout):
        lost.append("its layout")
    if {card.kind for card in there.cards} - {card.kind for card in kept.cards} - set(cards):
        lost.append("its cards")
    if lost:
        raise ProfileError(
            f"{output} knows {' and '.join(lost)}, and would not any more: give --profile {output} to keep that, "
            "or -o another name"
        )


def corners_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """The option --corners, given to the command as `corners`."""
    return click.option(
        "--corners",
        type=CornersType(),
        metavar='"X,Y X,Y X,Y X,Y"',
        help="The board's outer corners at a1, d1, d4, a4 (of another layout: of its bounding rectangle), "
        "in pixels of the upright picture. [default: found]",
    )(command)


def layout_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """The option --layout, given to the command as `layout`."""
    return click.option(
        "--layout",
        type=LayoutType(),
        default="4x4",
        show_default=True,
        help="The board: a name, or rows of # and . from the far side, joined by /.",
    )(command)


def game_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of a match: --first, --layout, --sets and --variant."""
    for option in (
        variant_option,
        sets_option,
        layout_option,
        click.option(
            "--first",
            type=click.Choice(FirstMove.__args__),  # type: ignore[attr-defined]
            default="outside",
            show_default=True,
            help="Where the first piece may go.",
        ),
    ):
        command = option(command)
    return command


def sets_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """The option --sets, given to the command as `sets`."""
    return click.option(
        "--sets", type=click.IntRange(1, MOST_SETS), help="Sets of pieces in play. [default: as the board needs]"
    )(command)


def variant_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """The option --variant, given to the command as `variant`."""
    return click.option(
        "--variant",
        type=click.Choice(["standard", GREEN_BOX]),
        default="standard",
        show_default=True,
        help="green-box: plain cubes, whose kind is on a card beside the board.",
    )(command)


def open_source(
    text: str,
    layout: Layout,
    corners: Corners | None,
    *,
    profile: Profile | None = None,
    variant: str = "standard",
    sets: int | None = None,
    patient: bool = False,
    clock: Clock = time.monotonic,
) -> Source:
    """The source of readings that `text` names; if `patient`, a live one that is not there yet is lost until it comes.

    A live source goes by `clock`, which gives seconds that never run back.

    Raises:
        UsageError: if the text names no source.
        SourceError: if it cannot be opened.
        VisionError: if `corners` cannot be the corners of a board.
    """
    with wrong_usage():
        return _opened(text, layout, Sight(corners, profile, variant, sets), clock, patient=patient)


@contextlib.contextmanager
def wrong_usage() -> Iterator[None]:
    """Within it, a text that names no source is a `UsageError`."""
    try:
        yield
    except SourceSyntaxError as error:
        raise click.UsageError(str(error)) from error


@dataclass(frozen=True, slots=True)
class Sight:
    """What is known beforehand of what a camera is going to see."""

    corners: Corners | None = None
    profile: Profile | None = None
    variant: str = "standard"
    sets: int | None = None
    """So many sets of pieces are in play; None stands for as many as the board needs."""


def is_tile_board(source: str) -> bool:
    """Whether a source's name is that of a tile board, which shows no pictures."""
    return source.startswith("tiles:") or source in ("tiles", "virtual:tiles")


def refuse_idle_corners(sources: Iterable[str]) -> None:
    """Wrong usage if somebody gave corners and no source looks at pictures; those of a profile may lie idle."""
    if is_given("corners") and all(map(is_tile_board, sources)):
        raise click.UsageError("a tile board needs no corners: leave out --corners")


def _opened(text: str, layout: Layout, sight: Sight, clock: Clock, *, patient: bool) -> Source:
    if is_tile_board(text):
        from companion.tiles.link import open_tiles  # noqa: PLC0415 (a camera needs no serial port)

        return open_tiles(text, layout, clock=clock, wait=time.sleep, patient=patient)
    from companion.camera import Camera, VirtualCamera, open_frames  # noqa: PLC0415 (OpenCV is slow to import)

    def reader_for(wanted: Layout) -> VideoReader:
        return video_reader(wanted, sight if wanted == layout else replace(sight, corners=None))

    frames = open_frames(text, clock, patient=patient, others=("tiles",))
    try:
        if isinstance(frames, VirtualCamera):
            _refuse_another_game(frames, layout, sight.variant)
        return Camera(frames, reader_for(layout), reader_for=reader_for)
    except Exception:
        frames.close()
        raise


def _refuse_another_game(drawn: VirtualCamera, layout: Layout, variant: str) -> None:
    """Wrong usage if a game is drawn that is not the one to be refereed."""
    on = drawn.play.layout
    if on != layout:
        raise click.UsageError(f"{drawn.name} draws a game on {on}, and not on {layout}: start with --layout '{on}'")
    if drawn.variant != variant:
        raise click.UsageError(f"{drawn.name} draws a {drawn.variant} game: start with --variant {drawn.variant}")


def video_reader(layout: Layout, sight: Sight) -> VideoReader:
    """The reader of a camera's frames; of the Green Box it reads the card piles too.

    Raises:
        ProfileError: if the set was enrolled with another version of the recogniser.
    """
    from companion.vision.follow import BoardFollower  # noqa: PLC0415 (OpenCV is slow to import)
    from companion.vision.piles import PileWatcher  # noqa: PLC0415
    from companion.vision.video import VideoReader  # noqa: PLC0415

    reader = board_reader(layout, sight.corners, sight.profile, variant=sight.variant, sets=sight.sets)
    find = _found_first(reader.locate, reader.optics)
    follower = BoardFollower(layout, find=find, optics=reader.optics)
    piles = PileWatcher(card_reader(sight.profile), layout) if sight.variant == GREEN_BOX else None
    return VideoReader(reader, follower, piles)


def card_reader(profile: Profile | None) -> CardReader:
    """The reader of cards: with the cards that a profile knows.

    Raises:
        ProfileError: if one of them is no picture.
    """
    from companion.vision.cards import CardArt, CardReader  # noqa: PLC0415 (OpenCV is slow to import)

    return CardReader.bundled(CardArt.of(profile.cards) if profile else None, optics_of(profile))


def board_reader(
    layout: Layout,
    corners: Corners | None,
    profile: Profile | None = None,
    *,
    variant: str = "standard",
    sets: int | None = None,
) -> BoardReader:
    """The reader of single pictures: with the set and the lens that a profile knows, else as the program comes.

    Corners that a profile has of another layout are not those of the board: it is looked for.
    A set counts where its variant is played: cubes are not read as pieces with marks, nor these as cubes.

    Raises:
        ProfileError: if the set was enrolled with another version of the recogniser.
    """
    from companion.vision.cubes import CubeLook, CubeRecogniser  # noqa: PLC0415 (OpenCV is slow to import)
    from companion.vision.enrolled import EnrolledRecogniser, Look  # noqa: PLC0415
    from companion.vision.pieces import Recogniser  # noqa: PLC0415
    from companion.vision.reader import BoardReader  # noqa: PLC0415

    optics, eyes = optics_of(profile), Recogniser.bundled()
    if corners is not None and not corners.are_of(layout):
        corners = None
    recogniser: RecogniserOfPatches = eyes
    known = profile if profile is not None and profile.variant == variant else Profile()
    if known.enrolment is not None:
        recogniser = EnrolledRecogniser(eyes, Look.of(known.enrolment))
    elif known.cubes is not None:
        recogniser = CubeRecogniser(eyes, CubeLook.of(known.cubes))
    return BoardReader(layout, recogniser, locator(corners, optics), optics, cubes=variant == GREEN_BOX, sets=sets)


def optics_of(profile: Profile | None) -> Optics:
    """The lens that a profile knows, else one that bends nothing."""
    from companion.vision.lens import PINHOLE, Lens  # noqa: PLC0415 (OpenCV is slow to import)

    return PINHOLE if profile is None or profile.lens is None else Lens(profile.lens)


def _found_first(first: Locator, optics: Optics) -> Locator:
    """Corners that a person gave hold until the board is lost; from then on it is looked for."""
    finders, later = iter([first]), locator(None, optics)

    def find(image: NDArray[np.uint8], layout: Layout) -> BoardPose | BoardNotFound:
        return next(finders, later)(image, layout)

    return find


def locator(corners: Corners | None, optics: Optics) -> Locator:
    """What finds the board through a lens: corners that a person gave, or else a search; see `Locator`."""
    from companion.vision.board import BoardFinder  # noqa: PLC0415 (OpenCV is slow to import)

    if corners is None:
        finder = BoardFinder.bundled()
        return lambda image, layout: finder(optics.straight(image), layout)

    def given(image: NDArray[np.uint8], layout: Layout) -> BoardPose:  # noqa: ARG001 (the corners are known)
        size = (image.shape[1], image.shape[0])
        pose = corners.place(size)
        return pose.moved(optics.straightened(pose.points(), size))

    return given
