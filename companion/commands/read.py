"""``companion read``: the position and score on a photograph."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from companion.commands.corners import corners_option, written
from companion.commands.eyes import Foreknowledge, board_reader, card_reader
from companion.commands.options import layout_option, profile_option, sets_option, variant_option
from companion.commands.output import json_option, print_json
from companion.errors import CompanionError, SourceError
from companion.events import content_text, parse_content
from companion.readings import board_text, contents_of, possible
from companion.rules import PIECES_PER_KIND_AND_SET, Colour, Kind, score_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from companion.commands.corners import Corners
    from companion.profile import Profile
    from companion.readings import Contents
    from companion.rules import Layout, Variant
    from companion.vision.pose import Point
    from companion.vision.reader import BoardReader, StillReading

CORNER_NAMES = ("a1", "d1", "d4", "a4")
_MOST_WAYS = 2_000
"""So many ways to lay the pieces that are left are tried, in a tenth of a second: all if a dozen squares are unsure."""


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
    variant: Variant,
    *,
    as_json: bool,
) -> None:
    """Read the position and the score on photographs, and the card beside the board, if there is one.

    Without corners, a1 is the corner in the lower left of the picture.
    """
    known = Foreknowledge(corners, profile, variant, sets)
    reader = replace(board_reader(layout, known), cards=card_reader(profile))
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
            named = image and image in told["why"]
            click.echo(told["why"] if named else f"{image or repr(image)}: {told['why']}", err=True)
    if failed:
        ctx.exit(1)


def _read(reader: BoardReader, image: str) -> dict[str, Any]:
    """The JSON object of the contract; a picture that cannot be read is told as not found."""
    from companion.camera import read_picture  # noqa: PLC0415 (OpenCV is slow to import)
    from companion.vision.legible import BLURRED  # noqa: PLC0415
    from companion.vision.reader import StillReading  # noqa: PLC0415

    try:
        if "://" in image and not Path(image).exists():
            raise SourceError(f"{image} is an address, and files are read: save the picture, and give the file's name")
        found = reader.read(read_picture(Path(image)))
    except CompanionError as error:
        return {"image": image, "found": False, "why": str(error)}
    if not isinstance(found, StillReading):
        return {"image": image, "found": False, "why": found.why}
    if found.blurred:
        click.echo(f"{image}: {BLURRED}", err=True)
    if found.pose.another:
        there = written(found.pose.another)
        click.echo(f'{image}: another board is seen, too; for that one give --corners "{there}"', err=True)
    return {"image": image, "found": True, **_told(reader, found)}


def _told(reader: BoardReader, found: StillReading) -> dict[str, Any]:
    layout, pieces = reader.layout, reader.sets_in_play * PIECES_PER_KIND_AND_SET * len(Kind)
    another = {"another": _named(found.pose.another)} if found.pose.another else {}
    return {
        "corners": _named(found.pose.corners),
        **another,
        "squares": {
            str(square): [content_text(content) for content in possible(contents)]
            for square, contents in zip(layout, found.squares, strict=True)
        },
        "hidden": sorted(map(str, layout.squares_in(found.hidden))),
        "card": str(found.card) if found.card else None,
        **_score(layout, found.squares, pieces),
    }


def _named(corners: tuple[Point, ...]) -> dict[str, list[float]]:
    return {name: [round(x, 2), round(y, 2)] for name, (x, y) in zip(CORNER_NAMES, corners, strict=True)}


def _score(layout: Layout, squares: tuple[Contents, ...], pieces: int) -> dict[str, Any]:
    """The score, if every colour is certain; else the least and most that each player, of so many pieces, may have."""
    seen = [_colours(contents) for contents in squares]
    ranges = {}
    for colour in Colour:
        surely = [i for i, colours in enumerate(seen) if colours == {colour}]
        maybe = [i for i, colours in enumerate(seen) if colour in colours and len(colours) > 1]
        ranges[str(colour)] = [_points(layout, surely), _most_points(layout, surely, maybe, pieces - len(surely))]
    if all(len(colours) == 1 for colours in seen):
        return {"score": {colour: least for colour, (least, _) in ranges.items()}}
    return {"score": None, "score_range": ranges}


def _points(layout: Layout, squares: Iterable[int]) -> int:
    """The points of a player who has these squares."""
    return score_of(layout, sum(1 << i for i in squares), 0).light


def _most_points(layout: Layout, surely: list[int], maybe: list[int], left: int) -> int:
    """The most points of a player who has `surely` and so many more of `maybe`; all of them if there are many ways."""
    if not 0 <= left < len(maybe) or comb(len(maybe), left) > _MOST_WAYS:
        return _points(layout, [*surely, *maybe])
    return max(_points(layout, [*surely, *more]) for more in combinations(maybe, left))


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
