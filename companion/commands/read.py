"""``companion read``: the position and score on a photograph."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from companion.commands._shared import json_option, print_json
from companion.commands.sight import (
    board_reader,
    card_reader,
    corners_option,
    layout_option,
    profile_option,
    sets_option,
    variant_option,
)
from companion.errors import CompanionError
from companion.events import content_text, parse_content
from companion.readings import board_text, contents_of, possible
from companion.rules import Colour, score_of

if TYPE_CHECKING:
    from companion.commands.sight import Corners
    from companion.profile import Profile
    from companion.readings import Contents
    from companion.rules import Layout
    from companion.vision.reader import BoardReader, StillReading

CORNER_NAMES = ("a1", "d1", "d4", "a4")


@click.command()
@click.argument("images", nargs=-1, required=True, metavar="IMAGE...")
@profile_option
@corners_option
@layout_option
@sets_option
@variant_option
@json_option
@click.pass_context
def read(
    ctx: click.Context,
    images: tuple[str, ...],
    profile: Profile | None,
    corners: Corners | None,
    layout: Layout,
    sets: int | None,
    variant: str,
    *,
    as_json: bool,
) -> None:
    """Read the position and the score on photographs, and the card beside the board, if there is one.

    Without corners, a1 is the corner in the lower left of the picture.
    """
    reader = replace(board_reader(layout, corners, profile, variant=variant, sets=sets), cards=card_reader(profile))
    failed = False
    for image in images:
        told = _read(reader, image)
        failed |= not told["found"]
        if as_json:
            print_json(told)
        elif told["found"]:
            card = f"\nThe card: {told['card']}" if told["card"] else ""
            click.echo(f"{image}\n{_drawing(layout, told)}\n{_score_in_words(told)}{card}")
        else:
            click.echo(f"{image}: {told['why']}", err=True)
    if failed:
        ctx.exit(1)


def _read(reader: BoardReader, image: str) -> dict[str, Any]:
    """The JSON object of the contract; a picture that cannot be read is told as not found."""
    from companion.camera import read_picture  # noqa: PLC0415 (OpenCV is slow to import)
    from companion.vision.reader import StillReading  # noqa: PLC0415

    try:
        found = reader.read(read_picture(Path(image)))
    except CompanionError as error:
        return {"image": image, "found": False, "why": str(error)}
    if not isinstance(found, StillReading):
        return {"image": image, "found": False, "why": found.why}
    return {"image": image, "found": True, **_told(reader.layout, found)}


def _told(layout: Layout, found: StillReading) -> dict[str, Any]:
    corners = zip(CORNER_NAMES, found.pose.corners, strict=True)
    return {
        "corners": {name: [round(x, 2), round(y, 2)] for name, (x, y) in corners},
        "squares": {
            str(square): [content_text(content) for content in possible(contents)]
            for square, contents in zip(layout, found.squares, strict=True)
        },
        "hidden": sorted(map(str, layout.squares_in(found.hidden))),
        "card": str(found.card) if found.card else None,
        **_score(layout, found.squares),
    }


def _score(layout: Layout, squares: tuple[Contents, ...]) -> dict[str, Any]:
    """The score, if every colour is certain; else the least and most that each player may have."""
    seen = [_colours(contents) for contents in squares]
    ranges = {}
    for colour in Colour:
        surely = sum(1 << i for i, colours in enumerate(seen) if colours == {colour})
        maybe = sum(1 << i for i, colours in enumerate(seen) if colour in colours)
        ranges[str(colour)] = [score_of(layout, held, 0).light for held in (surely, maybe)]
    if all(len(colours) == 1 for colours in seen):
        return {"score": {colour: least for colour, (least, _) in ranges.items()}}
    return {"score": None, "score_range": ranges}


def _colours(contents: Contents) -> set[Colour | None]:
    return {None if content is None else content.colour for content in possible(contents)}


def _drawing(layout: Layout, told: dict[str, Any]) -> str:
    return board_text(layout, [contents_of(map(parse_content, texts)) for texts in told["squares"].values()])


def _score_in_words(told: dict[str, Any]) -> str:
    if told["score"] is not None:
        return f"Light {told['score']['light']}, Dark {told['score']['dark']}"
    ranges = told["score_range"]
    if all(least == most for least, most in ranges.values()):
        return f"Light {ranges['light'][0]}, Dark {ranges['dark'][0]}, though not every colour is certain"
    light, dark = (str(least) if least == most else f"{least} to {most}" for least, most in ranges.values())
    return f"Light {light}, Dark {dark}: not every colour is certain"
