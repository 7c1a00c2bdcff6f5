"""What ``companion calibrate enrol --card`` learns: one picture of each card of the Green Box, upright and flat.

The card is looked for beside the board, if the picture shows one; else anywhere in the picture, which then has to show
it from above. What is kept is such a picture as the reader of cards cuts out itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import cv2
import numpy as np

from calibration.enrolment import EnrolmentError, png_of
from companion.profile import EnrolledCard
from companion.rules import Kind
from companion.vision.cards import KINDS, CardArt, card_picture
from companion.vision.sheets import PITCH, around, flatten, sheets, within

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from companion.rules import Layout
    from companion.vision.cards import CardJudge
    from companion.vision.pose import BoardPose
    from companion.vision.sheets import Sheet

    Image = NDArray[np.uint8]

_CLEAR = 0.92
"""A card of its own fills its rectangle at least so far."""
_ONE = 0.3
"""Two rectangles that share more than this are one card, or a part of it."""
_SIZES = (1.0, 1.6, 2.4)
"""How wide a card in a picture without a board may be taken to be, in squares; one of these fits."""
THE_SAME = 0.95
"""What is as like a card as this is that card: it is so in another picture."""
_KNOWN, _SEVERAL = 0.95, 2
"""Symbols of which the judge of cards is so sure are known; art that nobody ever drew for it may be taken for one."""
_EDGE = 1.0
"""Pixels of a view that are its edge."""
_SHORT_SIDE = 3.2
"""The shorter side of such a picture, in the same squares."""


def learn_cards(
    pictures: Mapping[Kind, tuple[str, Image, BoardPose | None]],
    layout: Layout,
    judge: CardJudge,
    known: Sequence[EnrolledCard] = (),
    *,
    anyway: bool = False,
) -> tuple[tuple[EnrolledCard, ...], str]:
    """The cards of these kinds, and in words which of them look like another kind; empty if none does.

    Each is learnt from a picture (its name, BGR, and where the board is in it, if it shows one). The cards of other
    kinds that are `known` already have to look otherwise, too. With `anyway` symbols that `judge` knows may mean
    something else than they look like.

    Raises:
        EnrolmentError: which picture shows no card, which two show what cannot be told apart, or which show the known
            symbols of other kinds.
    """
    cut = {kind: cut_out(name, image, pose, layout) for kind, (name, image, pose) in pictures.items()}
    where = {Kind(card.kind): "the profile" for card in known} | {kind: name for kind, (name, *_) in pictures.items()}
    every = {Kind(card.kind): card_picture(card) for card in known} | cut
    art = CardArt(every)
    for kind, picture in cut.items():
        alike = zip(art.kinds, art.likeness(picture[None])[0], strict=True)
        others = [other for other, how in alike if how >= THE_SAME and other is not kind]
        if others:
            raise EnrolmentError(
                f"the cards of {kind} and {others[0]} look alike in {where[kind]} and {where[others[0]]}: "
                "take sharper pictures of the two, or see whether one card was taken twice"
            )
    symbols = {} if anyway else symbols_of(every, judge)
    words = ", ".join(
        f"the card of {kind} in {where[kind]} looks like that of {symbol}"
        for kind, symbol in symbols.items()
        if kind in cut and symbol is not kind
    )
    if words and are_of_one_print(symbols.values(), len(every)):
        raise EnrolmentError(
            f"{words}: give each picture with its own kind, or if this art only looks so, add --anyway"
        )
    return tuple(EnrolledCard(kind=kind.value, picture=png_of(picture)) for kind, picture in cut.items()), words


def symbols_of(pictures: Mapping[Kind, Image], judge: CardJudge) -> dict[Kind, Kind]:
    """What those of these cards show whose symbols are known, whatever kinds they are said to be."""
    said = judge.judge(np.stack(list(pictures.values())))[:, : len(KINDS)]
    return {kind: KINDS[int(row.argmax())] for kind, row in zip(pictures, said, strict=True) if row.max() >= _KNOWN}


def are_of_one_print(symbols: Collection[Kind], cards: int) -> bool:
    """Whether these symbols, known ones of so many cards, are those of a print and not unknown art that looks so.

    At least two are known, of all cards but one, and no two alike.
    """
    return len(symbols) >= max(_SEVERAL, cards - 1) and len(set(symbols)) == len(symbols)


def cut_out(name: str, image: Image, pose: BoardPose | None, layout: Layout) -> Image:
    """The one card that lies in a picture, as `companion.vision.sheets` shows it; raises `EnrolmentError`."""
    for views in (_beside(image, pose, layout), _anywhere(image, pose)):
        found = [(view, sheet) for view, proposed in views for sheet in _outermost(proposed)]
        if len(found) > 1:
            raise EnrolmentError(f"{name} shows {len(found)} things that may be the card: take only the one card")
        if found:
            view, sheet = found[0]
            return sheet.picture(view)
    raise EnrolmentError(
        f"no card is found in {name}: lay it face up, all of it in the picture, on a ground of another colour"
    )


def _beside(image: Image, pose: BoardPose | None, layout: Layout) -> Iterator[tuple[Image, list[Sheet]]]:
    """The strips around the board."""
    if pose is None:
        return
    for strip in around(layout):
        view = flatten(image, pose.points(), layout, strip)
        lay = strip.to_picture(pose.points(), layout)
        yield view, within(sheets(view), lay, image.shape[1::-1])


def _anywhere(image: Image, pose: BoardPose | None) -> Iterator[tuple[Image, list[Sheet]]]:
    """The whole picture but for the board, in the first size in which something fits."""
    for size in _SIZES:
        scale = _SHORT_SIDE / size * PITCH / min(image.shape[:2])
        view = np.asarray(cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), np.uint8)
        whole = [sheet for sheet in sheets(view) if _lies_inside(sheet, view)]
        found = [sheet for sheet in whole if pose is None or not _of_board(sheet, pose.points() * scale)]
        if any(sheet.filled >= _CLEAR for sheet in found):
            yield view, found
            return


def _lies_inside(sheet: Sheet, view: Image) -> bool:
    """Whether the view ends nowhere along the sheet: else it may be a part of something, or be the view itself."""
    far = np.array(view.shape[1::-1]) - 1 - _EDGE
    return bool((sheet.corners >= _EDGE).all() and (sheet.corners <= far).all())


def _of_board(sheet: Sheet, outline: NDArray[np.floating]) -> bool:
    """Whether the sheet is a part of the board with this outline, or the board with what is around it."""
    board, whole = (corners.astype(np.float32) for corners in (outline, sheet.corners))
    x, y = board.mean(axis=0).tolist()
    inside = cv2.pointPolygonTest(board, (sheet.x, sheet.y), measureDist=False) >= 0
    return inside or cv2.pointPolygonTest(whole, (x, y), measureDist=False) >= 0


def _outermost(found: list[Sheet]) -> list[Sheet]:
    """The clear rectangles, without those that are inside or across another."""
    kept: list[Sheet] = []
    for sheet in sorted((s for s in found if s.filled >= _CLEAR), key=lambda s: -s.area):
        if not any(_overlap(sheet, other) for other in kept):
            kept.append(sheet)
    return kept


def _overlap(small: Sheet, large: Sheet) -> bool:
    shared = small.shared(large)
    return shared > _ONE or bool(cv2.pointPolygonTest(large.corners.astype(np.float32), (small.x, small.y), False) >= 0)
