"""``companion calibrate enrol``: pictures of a set in, a profile out that knows its pieces and its cards."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from calibration.cards import learn_cards
from calibration.cubes import cube_composer, learn_cubes
from calibration.enrolment import EnrolmentError, learn, refuse_other_boards
from calibration.enrolment_pictures import EnrolmentPicture, refuse_bad_pictures, refuse_other_arrangement
from calibration.telling_apart import colours_in_words, in_words, refuse_bad_colours, refuse_unlike_twins
from companion.camera import read_picture
from companion.commands.corners import corners_of, corners_option
from companion.commands.eyes import locator, optics_of
from companion.commands.options import GREEN_BOX, is_given, layout_option, profile_option, variant_option
from companion.commands.profile_output import refuse_loss
from companion.errors import CompanionError
from companion.profile import Profile
from companion.rules import Colour, Kind
from companion.vision.board import SMALLEST_PICTURE
from companion.vision.cards import CardJudge
from companion.vision.pieces import Recogniser
from companion.vision.pose import BoardNotFound
from companion.vision.rectify import pixels_per_square

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from calibration.composing import LocatedPicture
    from companion.commands.corners import Corners
    from companion.profile import EnrolledCard
    from companion.rules import Layout, Variant
    from companion.vision.lens import Optics
    from companion.vision.pose import BoardPose

_FEWEST_PIXELS = 15
"""Nothing can be learnt of squares with fewer pixels across."""


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


def _once_each(
    _context: click.Context, _option: click.Parameter, cards: tuple[tuple[Kind, str], ...]
) -> tuple[tuple[Kind, str], ...]:
    kinds = [kind for kind, _ in cards]
    twice = next((kind for kind in kinds if kinds.count(kind) > 1), None)
    if twice:
        raise click.BadParameter(f"the card of {twice} is given twice; one picture of it is enough")
    return cards


def _as_text(_context: click.Context, _option: click.Parameter, name: str) -> str:
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise click.BadParameter(f"{name!r} is no text in UTF-8") from error
    return name


@click.command()
@click.option("--empty", metavar="PICTURE", help="The empty board.")
@click.option("--pieces", metavar="PICTURE", help="The sixteen pieces in the standard arrangement.")
@click.option(
    "--card",
    "cards",
    type=CardType(),
    multiple=True,
    callback=_once_each,
    metavar="KIND=PICTURE",
    help="A card of the Green Box, lying face up; once for each kind. With cards, pieces may be left out.",
)
@profile_option
@corners_option
@layout_option
@variant_option
@click.option(
    "--anyway",
    is_flag=True,
    help="Keep what shows where marks or colours hardly show, pieces do not look alike two by two or lie otherwise, a "
    "hand seems to be over the board, cards look like those of other kinds, or cubes are burnt out.",
)
@click.option("--light-is-darker", is_flag=True, help="The pieces with marks that are Light's are the darker ones.")
@click.option("--name", default="", callback=_as_text, help="What you call this set.")
@click.option("-o", "--output", required=True, metavar="PROFILE", help="Where the profile is written.")
def enrol(
    empty: str | None,
    pieces: str | None,
    cards: tuple[tuple[Kind, str], ...],
    profile: Profile | None,
    corners: Corners | None,
    layout: Layout,
    variant: Variant,
    anyway: bool,
    light_is_darker: bool,
    name: str,
    output: str,
) -> None:
    """Learn the pieces of any set from two pictures, taken from one place in one light; and cards, from one each.

    The arrangement, seen from Light: row 1 light straight, straight, diagonal, diagonal; row 2 light pusher, pusher,
    puller, puller; rows 3 and 4 the same for dark. Cubes, of any two colours, are laid out in the same way: Light's on
    rows 1 and 2. Takes some ten to twenty seconds.
    """
    if (empty is None) != (pieces is None):
        raise click.UsageError("--empty and --pieces go together: one picture without pieces, one with all sixteen")
    if pieces is None and not cards:
        raise click.UsageError("give --empty and --pieces, or --card for each kind, or all of them")
    if pieces is None and light_is_darker:
        raise click.UsageError("--light-is-darker is about pieces: give --empty and --pieces, too")
    plain = _are_plain(variant, cards)
    if plain and light_is_darker:
        raise click.UsageError("--light-is-darker is about pieces with marks: either cubes may be the darker ones")
    known, told = profile or Profile(), []
    corners = corners_of(layout, corners)
    anew = ["enrolment", "cubes"] if pieces is not None else []
    refuse_loss(output, known, anew, [kind.value for kind, _ in cards])
    if empty is not None and pieces is not None:
        brighter = None if plain else Colour.DARK if light_is_darker else Colour.LIGHT
        located = _located_both(known, (empty, pieces), corners, layout, brighter, anyway=anyway)
        known, words = (
            _with_cubes(known, *located, layout, pieces, anyway=anyway)
            if plain
            else _with_pieces(known, *located, layout, pieces, anyway=anyway)
        )
        told.append(f"knows the sixteen {'cubes' if plain else 'pieces'}. {words}")
    if cards:
        if pieces is None and known.variant != GREEN_BOX and known.enrolment is not None:
            raise EnrolmentError(
                "cards belong to the Green Box, and this profile knows pieces with marks: give --empty and --pieces of "
                "its cubes as well, or leave out --profile"
            )
        kept = tuple(card for card in known.cards if card.kind not in {kind.value for kind, _ in cards})
        of_cards = pieces is None and is_given("corners")
        learnt, words = _learnt(cards, kept, corners, layout, optics_of(known), corners_fit=of_cards, anyway=anyway)
        known = known.model_copy(update={"cards": (*kept, *learnt)})
        yet = f" Yet {words}." if words else ""
        told.append(f"knows the cards: {', '.join(card.kind for card in known.cards)}.{_missing(known.cards)}{yet}")
    update = {"variant": GREEN_BOX if plain else variant} | ({"name": name} if name else {})
    update |= {"layout": str(layout)} if pieces is None else {}
    known.model_copy(update=update).write(output)
    click.echo("\n".join(f"{output} {words}" for words in told), err=True)


def _are_plain(variant: Variant, cards: tuple[tuple[Kind, str], ...]) -> bool:
    """Whether the pieces are the Green Box's cubes, as they are where cards are.

    Wrong usage if cards are given and the variant is said to be another.
    """
    if cards and is_given("variant") and variant != GREEN_BOX:
        raise click.UsageError("cards belong to the Green Box: leave out --card, or --variant standard")
    return bool(cards) or variant == GREEN_BOX


def _located_both(
    known: Profile,
    names: tuple[str, str],
    corners: Corners | None,
    layout: Layout,
    brighter: Colour | None,
    *,
    anyway: bool,
) -> tuple[LocatedPicture, LocatedPicture]:
    """The two pictures with the place of the board in each, if a set can be enrolled from them.

    For `brighter` and `anyway` see `refuse_bad_pictures` and `refuse_other_arrangement`; `brighter` is None if the
    pieces have no marks.
    """
    refuse_other_boards(layout)
    recogniser, optics = Recogniser.bundled(), optics_of(known)
    both = [_located(path, corners, layout, optics) for path in names]
    empty, pieces = (
        EnrolmentPicture.seen(name, located, layout, recogniser) for name, located in zip(names, both, strict=True)
    )
    refuse_bad_pictures(empty, pieces, anyway=anyway)
    if brighter is not None:
        refuse_other_arrangement(empty, pieces, brighter, anyway=anyway)
    return both[0], both[1]


def _with_pieces(
    known: Profile, empty: LocatedPicture, pieces: LocatedPicture, layout: Layout, name: str, *, anyway: bool
) -> tuple[Profile, str]:
    """The profile with the pieces of picture `name`, and how well they can be told apart."""
    learnt = learn(empty, pieces, layout, Recogniser.bundled())
    if not anyway:
        refuse_unlike_twins(learnt, name)
    return known.model_copy(update={"enrolment": learnt.enrolment, "cubes": None}), in_words(learnt, name)


def _with_cubes(
    known: Profile, empty: LocatedPicture, cubes: LocatedPicture, layout: Layout, name: str, *, anyway: bool
) -> tuple[Profile, str]:
    """The profile with the cubes of picture `name`, and whose are which."""
    composer = cube_composer(empty, cubes, layout)
    refuse_bad_colours(composer.colours, name, anyway=anyway)
    learnt = learn_cubes(composer, Recogniser.bundled())
    return known.model_copy(update={"cubes": learnt.cubes, "enrolment": None}), colours_in_words(learnt, name)


def _learnt(
    cards: tuple[tuple[Kind, str], ...],
    kept: tuple[EnrolledCard, ...],
    corners: Corners | None,
    layout: Layout,
    optics: Optics,
    *,
    corners_fit: bool,
    anyway: bool,
) -> tuple[tuple[EnrolledCard, ...], str]:
    """The cards of these pictures, which look otherwise than the ones that are kept, and words; see `learn_cards`.

    If `corners_fit`, the corners are of these pictures; else they may be of others.
    """
    pictures = {
        kind: (path, *_located_card(path, corners, layout, optics, corners_fit=corners_fit)) for kind, path in cards
    }
    return learn_cards(pictures, layout, CardJudge.bundled(), kept, anyway=anyway)


def _missing(cards: tuple[EnrolledCard, ...]) -> str:
    left = [str(kind) for kind in Kind if kind not in {Kind(card.kind) for card in cards}]
    return f" {', '.join(left)}: read as plain drawings." if left else ""


def _located_card(
    path: str, corners: Corners | None, layout: Layout, optics: Optics, *, corners_fit: bool
) -> tuple[NDArray[np.uint8], BoardPose | None]:
    """The straight picture, and where the board is in it, if it shows one."""
    image = read_picture(Path(path))
    try:
        pose = locator(corners, optics)(image, layout)
    except CompanionError as error:
        pose = BoardNotFound(error.saying)
    if corners is not None and isinstance(pose, BoardNotFound):
        if corners_fit:
            raise EnrolmentError(f"{path}: {pose.why}")
        pose = locator(None, optics)(image, layout)
    return optics.straight(image), None if isinstance(pose, BoardNotFound) else pose


def _located(path: str, corners: Corners | None, layout: Layout, optics: Optics) -> LocatedPicture:
    """The straight picture, and where the board is in it."""
    image = read_picture(Path(path))
    pose = locator(corners, optics)(image, layout)
    if isinstance(pose, BoardNotFound):
        how = "take a larger one" if min(image.shape[:2]) < SMALLEST_PICTURE else "give its corners with --corners"
        raise EnrolmentError(f"{path}: {pose.why}" + (f"; {how}" if corners is None else ""))
    straight = optics.straight(image)
    if (pixels := pixels_per_square(pose.points(), layout)) < _FEWEST_PIXELS:
        raise EnrolmentError(
            f"{path}: a square has {pixels:.0f} pixels, which show no mark; move the camera closer, or take a larger "
            "picture"
        )
    return straight, pose
