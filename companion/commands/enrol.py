"""``companion calibrate enrol``: two pictures of a set in, a profile out that knows its pieces."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from calibration.enrol import in_words, refuse_bad_pictures, refuse_mixed_up
from calibration.enrolment import EnrolmentError, learn
from companion.camera import read_picture
from companion.commands.sight import corners_option, layout_option, locator, optics_of, profile_option
from companion.profile import Profile
from companion.vision.board import BoardNotFound
from companion.vision.pieces import Recogniser

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from companion.commands.sight import Corners
    from companion.rules import Layout
    from companion.vision.board import BoardPose
    from companion.vision.lens import Optics


@click.command()
@click.option("--empty", required=True, metavar="PICTURE", help="The empty board.")
@click.option("--pieces", required=True, metavar="PICTURE", help="The sixteen pieces in the standard arrangement.")
@profile_option
@corners_option
@layout_option
@click.option("--name", default="", help="What you call this set.")
@click.option("-o", "--output", required=True, metavar="PROFILE", help="Where the profile is written.")
def enrol(
    empty: str, pieces: str, profile: Profile | None, corners: Corners | None, layout: Layout, name: str, output: str
) -> None:
    """Learn the pieces of any set from two pictures, taken from one place in one light.

    The arrangement, seen from Light: row 1 light straight, straight, diagonal, diagonal; row 2 light pusher, pusher,
    puller, puller; rows 3 and 4 the same for dark. Takes some ten seconds.
    """
    recogniser = Recogniser.bundled()
    sights = [_sight(path, corners, layout, optics_of(profile)) for path in (empty, pieces)]
    refuse_bad_pictures(sights[0], sights[1], layout, recogniser, names=(empty, pieces))
    learnt = learn(sights[0], sights[1], layout, recogniser)
    refuse_mixed_up(learnt, pieces)
    known = (profile or Profile()).model_copy(update={"enrolment": learnt.enrolment})
    (known.model_copy(update={"name": name}) if name else known).write(output)
    click.echo(f"{output} knows the sixteen pieces. {in_words(learnt)}", err=True)


def _sight(path: str, corners: Corners | None, layout: Layout, optics: Optics) -> tuple[NDArray[np.uint8], BoardPose]:
    """The straight picture, and where the board is in it."""
    image = read_picture(Path(path))
    pose = locator(corners, optics)(image, layout)
    if isinstance(pose, BoardNotFound):
        raise EnrolmentError(f"{path}: {pose.why}; give its corners with --corners")
    return optics.straight(image), pose
