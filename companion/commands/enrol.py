"""``companion calibrate enrol``: pictures of a set in, a profile out that knows its pieces and its cards."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from calibration.cards import learn_cards
from calibration.enrol import in_words, refuse_bad_pictures, refuse_unlike_twins
from calibration.enrolment import EnrolmentError, learn, refuse_other_boards
from companion.camera import read_picture
from companion.commands.sight import (
    GREEN_BOX,
    corners_option,
    layout_option,
    locator,
    optics_of,
    profile_option,
    variant_option,
)
from companion.errors import CompanionError
from companion.profile import Profile
from companion.rules import Kind
from companion.vision.board import BoardNotFound
from companion.vision.pieces import Recogniser

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from companion.commands.sight import Corners
    from companion.profile import EnrolledCard
    from companion.rules import Layout
    from companion.vision.board import BoardPose
    from companion.vision.lens import Optics


class CardType(click.ParamType[Any]):
    """``KIND=PICTURE``."""

    name = "card"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The kind and the path, or wrong usage."""
        if isinstance(value, tuple):
            return value
        kind, _, path = str(value).partition("=")
        if kind not in [known.value for known in Kind] or not path:
            self.fail(f"{value!r} is not KIND=PICTURE with one of {', '.join(map(str, Kind))}", param, ctx)
        return Kind(kind), path


@click.command()
@click.option("--empty", metavar="PICTURE", help="The empty board.")
@click.option("--pieces", metavar="PICTURE", help="The sixteen pieces in the standard arrangement.")
@click.option(
    "--card",
    "cards",
    type=CardType(),
    multiple=True,
    metavar="KIND=PICTURE",
    help="A card of the Green Box, lying face up; once for each kind. With cards, pieces may be left out.",
)
@profile_option
@corners_option
@layout_option
@variant_option
@click.option(
    "--anyway", is_flag=True, help="Keep what shows where marks hardly show, or do not look alike two by two."
)
@click.option("--name", default="", help="What you call this set.")
@click.option("-o", "--output", required=True, metavar="PROFILE", help="Where the profile is written.")
def enrol(
    empty: str | None,
    pieces: str | None,
    cards: tuple[tuple[Kind, str], ...],
    profile: Profile | None,
    corners: Corners | None,
    layout: Layout,
    variant: str,
    anyway: bool,
    name: str,
    output: str,
) -> None:
    """Learn the pieces of any set from two pictures, taken from one place in one light; and cards, from one each.

    The arrangement, seen from Light: row 1 light straight, straight, diagonal, diagonal; row 2 light pusher, pusher,
    puller, puller; rows 3 and 4 the same for dark. Takes some ten seconds. Cubes are laid out in the same way.
    """
    if (empty is None) != (pieces is None):
        raise click.UsageError("--empty and --pieces go together: one picture without pieces, one with all sixteen")
    if pieces is None and not cards:
        raise click.UsageError("give --empty and --pieces, or --card for each kind, or all of them")
    if pieces is None and anyway:
        raise click.UsageError("--anyway is about marks on pieces: give --empty and --pieces with it")
    known, told = profile or Profile(), []
    if empty is not None and pieces is not None:
        plain = variant == GREEN_BOX or bool(cards)
        known, words = _with_pieces(known, (empty, pieces), corners, layout, plain=plain, anyway=anyway)
        told.append(f"knows the sixteen pieces. {words}")
    if cards:
        learnt = _learnt(cards, corners, layout, optics_of(known))
        kept = tuple(card for card in known.cards if card.kind not in {new.kind for new in learnt})
        known = known.model_copy(update={"cards": (*kept, *learnt)})
        told.append(f"knows the cards: {', '.join(card.kind for card in known.cards)}.{_missing(known.cards)}")
    update = ({"name": name} if name else {}) | ({"variant": GREEN_BOX} if cards else {"variant": variant})
    known.model_copy(update=update).write(output)
    click.echo("\n".join(f"{output} {words}" for words in told), err=True)


def _with_pieces(
    known: Profile, pictures: tuple[str, str], corners: Corners | None, layout: Layout, *, plain: bool, anyway: bool
) -> tuple[Profile, str]:
    """The profile with these pieces, and how well they can be told apart; `plain` ones have no kinds."""
    refuse_other_boards(layout)
    recogniser, optics = Recogniser.bundled(), optics_of(known)
    empty, pieces = (_sight(path, corners, layout, optics) for path in pictures)
    refuse_bad_pictures(empty, pieces, layout, recogniser, names=pictures)
    learnt = learn(empty, pieces, layout, recogniser)
    if not plain and not anyway:
        refuse_unlike_twins(learnt, pictures[1])
    return known.model_copy(update={"enrolment": learnt.enrolment}), in_words(learnt, pictures[1], plain=plain)


def _learnt(
    cards: tuple[tuple[Kind, str], ...], corners: Corners | None, layout: Layout, optics: Optics
) -> tuple[EnrolledCard, ...]:
    kinds = [kind for kind, _ in cards]
    twice = next((kind for kind in kinds if kinds.count(kind) > 1), None)
    if twice:
        raise EnrolmentError(f"the card of {twice} is given twice; one picture of it is enough")
    pictures = {kind: (path, *_card_sight(path, corners, layout, optics)) for kind, path in cards}
    return learn_cards(pictures, layout)


def _missing(cards: tuple[EnrolledCard, ...]) -> str:
    left = [str(kind) for kind in Kind if kind not in {Kind(card.kind) for card in cards}]
    return f" {', '.join(left)}: read as plain drawings." if left else ""


def _card_sight(
    path: str, corners: Corners | None, layout: Layout, optics: Optics
) -> tuple[NDArray[np.uint8], BoardPose | None]:
    """The straight picture, and where the board is in it, if it shows one."""
    image = read_picture(Path(path))
    try:
        pose = locator(corners, optics)(image, layout)
    except CompanionError:  # corners of another picture
        pose = locator(None, optics)(image, layout)
    return optics.straight(image), None if isinstance(pose, BoardNotFound) else pose


def _sight(path: str, corners: Corners | None, layout: Layout, optics: Optics) -> tuple[NDArray[np.uint8], BoardPose]:
    """The straight picture, and where the board is in it."""
    image = read_picture(Path(path))
    pose = locator(corners, optics)(image, layout)
    if isinstance(pose, BoardNotFound):
        raise EnrolmentError(f"{path}: {pose.why}; give its corners with --corners")
    return optics.straight(image), pose
