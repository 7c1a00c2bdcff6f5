"""``companion calibrate check``: go or no-go before a game, and what to improve."""

from __future__ import annotations

import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from calibration.check import Finding, examine
from companion.camera import is_file, open_frames, read_picture
from companion.commands.corners import corners_of, corners_option
from companion.commands.eyes import Foreknowledge, board_reader, card_reader
from companion.commands.options import GREEN_BOX, layout_option, profile_option, variant_option
from companion.commands.output import harmless, json_option, print_json
from companion.commands.sources import is_tile_board, wrong_usage
from companion.errors import SourceError, VisionError
from companion.vision.pose import BoardNotFound

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from companion.commands.corners import Corners
    from companion.profile import Profile
    from companion.rules import Layout, Variant

_WAIT_S = 5.0


@click.command()
@click.argument("source", default="camera:0", metavar="[PICTURE|SOURCE]")
@profile_option
@corners_option
@layout_option
@variant_option
@json_option
@click.pass_context
def check(
    ctx: click.Context,
    source: str,
    profile: Profile | None,
    corners: Corners | None,
    layout: Layout,
    variant: Variant,
    *,
    as_json: bool,
) -> None:
    """Look at the board before a game: go (exit code 0) or no-go (1), with what to improve.

    Looks at a PICTURE, or at the first picture of a SOURCE such as camera:0.
    """
    if is_tile_board(source) and not is_file(Path(source)):
        raise click.UsageError("a tile board gives no pictures to look at; `companion calibrate tiles` fits one")
    try:
        findings = list(_findings(source, corners, layout, variant, profile))
    except (SourceError, VisionError) as error:
        if as_json:
            print_json(asdict(Finding("picture", str(error), good=False)))
        raise
    for finding in findings:
        if as_json:
            print_json(asdict(finding))
        else:
            click.echo(f"{'ok ' if finding.good else 'NO '} {finding.what}: {harmless(finding.found)}")
            if finding.improve:
                click.echo(f"    {harmless(finding.improve)}")
    if not all(finding.good for finding in findings):
        ctx.exit(1)


def _findings(
    source: str, corners: Corners | None, layout: Layout, variant: Variant, profile: Profile | None
) -> Iterator[Finding]:
    """Look at the picture as a game would be watched; `ProfileError` if none can be with this profile."""
    image = _picture(source)
    reader = board_reader(layout, Foreknowledge(corners, profile, variant))
    pose = reader.locate(image, layout)
    if profile is not None:
        card_reader(profile)
    found = replace(reader, locate=lambda *_: pose).read(image)
    return examine(
        reader.optics.straight(image),
        pose,
        layout,
        profile if profile is not None and profile.variant == variant else None,
        sought=corners_of(layout, corners) is None,
        squares=() if isinstance(found, BoardNotFound) else found.squares,
        plain=variant == GREEN_BOX,
    )


def _picture(source: str) -> NDArray[np.uint8]:
    path = Path(source)
    if is_file(path) or path.drive or ":" not in source:
        return read_picture(path)
    with wrong_usage():
        frames = open_frames(source, time.monotonic)
    try:
        frame = frames.read(_WAIT_S)
    finally:
        frames.close()
    if frame is None:
        raise SourceError(f"{frames.name} gave no picture within {_WAIT_S:g} seconds")
    return frame.image
