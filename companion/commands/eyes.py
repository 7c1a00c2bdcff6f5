"""How eyes are put together: readers of pictures that know a set, a lens, and where the board is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from companion.commands.corners import corners_of
from companion.commands.options import GREEN_BOX
from companion.profile import Profile

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from companion.commands.corners import Corners
    from companion.rules import FirstMove, Layout, Variant
    from companion.vision.cards import CardReader
    from companion.vision.lens import Optics
    from companion.vision.pose import BoardNotFound, BoardPose
    from companion.vision.reader import BoardReader, Locator
    from companion.vision.reader import Recogniser as RecogniserOfPatches
    from companion.vision.video import VideoReader


@dataclass(frozen=True, slots=True)
class Foreknowledge:
    """What is known beforehand of what a camera is going to see. A tile board has no use for it."""

    corners: Corners | None = None
    profile: Profile | None = None
    variant: Variant = "standard"
    sets: int | None = None
    """So many sets of pieces are in play; None stands for as many as the board needs."""
    first: FirstMove | None = None
    """Where the first piece may go; None where nobody asks."""


NOTHING_KNOWN: Final = Foreknowledge()


def video_reader(layout: Layout, known: Foreknowledge) -> VideoReader:
    """The reader of a camera's frames; of the Green Box it reads the card piles too.

    Raises:
        ProfileError: if the set was enrolled with another version of the recogniser.
    """
    from companion.vision.follow import BoardFollower  # noqa: PLC0415 (OpenCV is slow to import)
    from companion.vision.piles import PileWatcher  # noqa: PLC0415
    from companion.vision.video import VideoReader  # noqa: PLC0415

    reader = board_reader(layout, known)
    given = corners_of(layout, known.corners)
    find = reader.locate if given is None else _found_first(reader.locate, reader.optics, given)
    follower = BoardFollower(layout, find=find, optics=reader.optics)
    piles = PileWatcher(card_reader(known.profile), layout) if known.variant == GREEN_BOX else None
    return VideoReader(reader, follower, piles)


def card_reader(profile: Profile | None) -> CardReader:
    """The reader of cards: with the cards that a profile knows.

    Raises:
        ProfileError: if one of them is no picture.
    """
    from companion.vision.cards import CardArt, CardReader  # noqa: PLC0415 (OpenCV is slow to import)

    return CardReader.bundled(CardArt.of(profile.cards) if profile else None, optics_of(profile))


def board_reader(layout: Layout, known: Foreknowledge = NOTHING_KNOWN) -> BoardReader:
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

    optics, eyes = optics_of(known.profile), Recogniser.bundled()
    recogniser: RecogniserOfPatches = eyes
    usual = known.profile if known.profile is not None and known.profile.variant == known.variant else Profile()
    if usual.enrolment is not None:
        recogniser = EnrolledRecogniser(eyes, Look.of(usual.enrolment))
    elif usual.cubes is not None:
        recogniser = CubeRecogniser(eyes, CubeLook.of(usual.cubes))
    locate = locator(corners_of(layout, known.corners), optics)
    return BoardReader(layout, recogniser, locate, optics, cubes=known.variant == GREEN_BOX, sets=known.sets)


def optics_of(profile: Profile | None) -> Optics:
    """The lens that a profile knows, else one that bends nothing."""
    from companion.vision.lens import PINHOLE, Lens  # noqa: PLC0415 (OpenCV is slow to import)

    return PINHOLE if profile is None or profile.lens is None else Lens(profile.lens)


def _found_first(given: Locator, optics: Optics, corners: Corners) -> Locator:
    """Corners that a person gave hold until the board that lay there is lost; from then on it is looked for.

    Where one was seen elsewhere once it is not enough that it is not any more: it has to be seen there.
    """
    from companion.vision.board import BoardFinder  # noqa: PLC0415 (OpenCV is slow to import)
    from companion.vision.pose import BoardNotFound  # noqa: PLC0415 (OpenCV is slow to import)

    finder = BoardFinder.bundled()
    lay_there = False
    refused: BoardNotFound | None = None

    def find(image: NDArray[np.uint8], layout: Layout) -> BoardPose | BoardNotFound:
        nonlocal lay_there, refused
        if lay_there:
            return finder(optics.straight(image), layout)
        found = given(image, layout)
        if isinstance(found, BoardNotFound):
            if found == corners.not_seen:
                return refused or found
            refused = found
        elif refused is None or finder.sees(optics.straight(image), layout, found):
            lay_there = True
        else:
            return refused
        return found

    return find


def locator(corners: Corners | None, optics: Optics) -> Locator:
    """What finds the board through a lens: corners that a person gave, or else a search; see `Locator`.

    Corners are believed, unless nothing like a board lies there, and one is surely seen elsewhere, or the picture shows
    nothing there. Where they are a little off, and a board is surely seen there, they are mended.
    """
    from companion.vision.board import BoardFinder, Elsewhere  # noqa: PLC0415 (OpenCV is slow to import)
    from companion.vision.legible import shows_nothing  # noqa: PLC0415
    from companion.vision.rectify import rectify  # noqa: PLC0415

    finder = BoardFinder.bundled()
    if corners is None:
        return lambda image, layout: finder(optics.straight(image), layout)

    def given(image: NDArray[np.uint8], layout: Layout) -> BoardPose | BoardNotFound:
        size = (image.shape[1], image.shape[0])
        pose = corners.place(size)
        straight = pose.moved(optics.straightened(pose.points(), size))
        seen = optics.straight(image)
        checked = finder.check(seen, layout, straight)
        if isinstance(checked, Elsewhere):
            elsewhere = checked.pose
            return corners.not_here(elsewhere.moved(optics.bent(elsewhere.points(), size)))
        if checked is not None:
            return checked
        there = rectify(image, straight.points(), layout, optics=optics)
        return corners.not_seen if shows_nothing(there, layout) else straight

    return given
