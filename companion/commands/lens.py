"""``companion calibrate lens``: pictures of the lens target in, a profile out that knows how the lens bends lines."""

from __future__ import annotations

from pathlib import Path

import click

from calibration.lens import find_target, measure
from companion.camera import read_picture
from companion.commands.options import profile_option
from companion.commands.profile_output import refuse_loss
from companion.profile import Profile

_HARDLY = 2.0
"""Pixels of bend that nobody notices."""


@click.command()
@click.argument("pictures", nargs=-1, required=True, metavar="PICTURE...")
@profile_option
@click.option("-o", "--output", required=True, metavar="PROFILE", help="Where the profile is written.")
def lens(pictures: tuple[str, ...], profile: Profile | None, output: str) -> None:
    """Measure how a camera's lens bends lines, from some ten pictures of the lens target that the kit prints.

    Take them with the camera you play with, at the size you play at: the target flat, tilted this way and that, near
    and far, in the middle and in the corners. With --profile, what that one knows is kept.
    """
    known = profile or Profile()
    refuse_loss(output, known, ["lens"])
    measured = measure([find_target(read_picture(Path(picture)), picture) for picture in pictures])
    known.model_copy(update={"lens": measured.model}).write(output)
    width, height = measured.model.size
    click.echo(
        f"{output} knows the lens, from {measured.pictures} pictures of {width} x {height}: it moves points by up to "
        f"{measured.bend:.0f} pixels, and what is left is {measured.model.error:.2f} pixels."
        + (" That is little: this camera does without." if measured.bend < _HARDLY else ""),
        err=True,
    )
