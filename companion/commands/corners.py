"""Where the board is said to be: its outer corners, out of an option or of a profile."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from companion.errors import ProfileError, VisionError
from companion.rules import Layout
from companion.saying import Saying

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from companion.vision.pose import BoardNotFound, BoardPose, Point


@dataclass(frozen=True, slots=True)
class Corners:
    """The board's outer corners as somebody gave them, or a profile does."""

    points: tuple[tuple[float, float], ...]
    """At a1, d1, d4, a4, x and y in pixels of the upright picture."""
    profile: str = ""
    """The file that they stand in; empty if somebody gave them."""
    layout: str = ""
    """The layout of that profile, whose corners they are."""

    def place(self, size: tuple[int, int]) -> BoardPose:
        """Where the board is in a picture of `size` (width, height).

        Raises:
            VisionError: if a board cannot have these corners there.
            ProfileError: likewise, if a profile has them.
        """
        from companion.vision.pose import locate_given  # noqa: PLC0415 (OpenCV is slow to import)

        try:
            return locate_given(self.points, size)
        except VisionError as error:
            if not self.profile:
                raise
            raise self.bad(error.saying) from error

    def bad(self, why: str) -> ProfileError:
        """What is wrong with the profile that has these corners."""
        return ProfileError(
            Saying("the profile %(file)s has a bad field 'corners': %(why)s", file=self.profile, why=why)
        )

    def not_here(self, seen: BoardPose) -> BoardNotFound:
        """What to say of a picture that shows the board elsewhere: where it is `seen`, in pixels of that picture."""
        from companion.vision.pose import BoardNotFound  # noqa: PLC0415 (OpenCV is slow to import)

        why = Saying("no board lies at the corners that were given, but one is seen elsewhere")
        if self.profile:
            why = Saying(
                "no board lies at the corners that the profile %(file)s has, but one is seen elsewhere",
                file=self.profile,
            )
        there = written(seen.corners)
        return BoardNotFound(Saying('%(why)s; give --corners "%(there)s", or put it back', why=why, there=there))

    @property
    def not_seen(self) -> BoardNotFound:
        """What to say of a picture that is blurred there, and shows nothing like a board."""
        from companion.vision.pose import BoardNotFound  # noqa: PLC0415 (OpenCV is slow to import)

        why = Saying("nothing like a board lies at the corners that were given, or the picture is too blurred to tell")
        if self.profile:
            why = Saying(
                "nothing like a board lies at the corners that the profile %(file)s has, "
                "or the picture is too blurred to tell",
                file=self.profile,
            )
        return BoardNotFound(Saying("%(why)s; give the corners of the board, or focus the camera", why=why))


def written(corners: Iterable[Point]) -> str:
    """The corners as --corners takes them, in whole pixels."""
    return " ".join(f"{x:.0f},{y:.0f}" for x, y in corners)


def corners_of(layout: Layout, corners: Corners | None) -> Corners | None:
    """These corners, if they are this layout's: who gives some means the board that lies there, a profile its own."""
    if corners is None or not corners.layout or Layout.parse(corners.layout) == layout:
        return corners
    return None


_MOST_PIXELS = 1_000_000
"""No picture is wider or higher."""


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
        if any(abs(number) > _MOST_PIXELS for point in corners.points for number in point):
            why = "no picture has so many pixels"
            raise corners.bad(why) if corners.profile else click.BadParameter(f"{why}: {value!r}", ctx, param)
        try:
            corners.place((_MOST_PIXELS, _MOST_PIXELS))
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


def corners_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """The option --corners, given to the command as `corners`."""
    return click.option(
        "--corners",
        type=CornersType(),
        metavar='"X,Y X,Y X,Y X,Y"',
        help="The board's outer corners at a1, d1, d4, a4 (of another layout: of its bounding rectangle), "
        "in pixels of the upright picture. [default: found]",
    )(command)
