"""How well the cards of the Green Box are read, on drawn strips of table that neither training nor thresholds saw.

``python -m tests.bench.cards [STRIPS] [FIRST]``

Draws STRIPS strips (400 if not said) of each sort, from number FIRST (0) on. *Right*: the card's kind and no other;
*unclear*: more kinds than one, the truth among them; *not seen*: no card is found; *wrong*: the truth is ruled out. Of
strips without a card of these, *wrong* is one that is surely taken for a kind. *At most* is the upper end of the 95 %
interval of what is wrong. Other art is enrolled from one drawn picture of each card on a plain ground in another light.

Then as many prints are enrolled, plain ones and other art, under their kinds and under each other's: how many of them
are refused because the symbols are known and those of other kinds.
"""

import argparse
from collections import Counter

import cv2
import numpy as np

from calibration.cards import THE_SAME, are_of_one_print, cut_out, symbols_of
from calibration.enrolment import EnrolmentError
from calibration.textures import Fabrics
from calibration.training.artwork import draw_marks
from calibration.training.cards import NONE, StripDrawer, draw_face, draw_look
from calibration.training.symbols import draw_symbol
from companion.rules import Kind, Layout
from companion.vision.cards import CardArt, CardJudge, CardReader
from companion.vision.sheets import sheets
from tests.bench.shares import wilson

_SEED = 31
_READABLE, _HIDDEN = 0.05, 0.3
LAYOUT = Layout.parse("4x4")


def outcome(said, truth):
    """Of a strip that shows card `truth` (`NONE`: no card of these), of which this was said."""
    if truth == NONE:
        return "wrong" if said.bit_count() == 1 else "right"
    if not said:
        return "not seen"
    if not said >> truth & 1:
        return "wrong"
    return "right" if said.bit_count() == 1 else "unclear"


def plain(drawer, reader, numbers):
    """Plain drawings: what was said of single cards, of piles, of cards under a hand, and of anything else."""
    for number in numbers:
        rng = np.random.default_rng((_SEED, 1, number))
        shot = drawer.draw(rng)
        if _READABLE < shot.hidden < _HIDDEN:
            continue
        truth = NONE if shot.top is None or shot.hidden >= _HIDDEN else shot.kind
        sort = "no card of these" if truth == NONE else "symbols, as drawn"
        yield sort, outcome(reader.judged(sheets(shot.view), shot.view)[0], truth)


def art(drawer, numbers):
    """Other art, enrolled: every tenth strip begins a new print."""
    for number in numbers:
        rng = np.random.default_rng((_SEED, 2, number))
        if number % 10 == 0:
            drawer.symbols = draw_marks(rng)
            look, reader = enrolled(drawer, rng)
        kind = int(rng.integers(NONE))
        shot = drawer.draw(rng, kind, look)
        if shot.hidden <= _READABLE:
            yield "other art, enrolled", outcome(reader.judged(sheets(shot.view), shot.view)[0], kind)


class ArtDrawer(StripDrawer):
    """Draws strips whose cards show the symbols of one print."""

    symbols = None

    def _symbol(self, rng, kind):
        return self.symbols[list(Kind)[kind]]


def enrolled(drawer, rng):
    """A print of cards, and a reader that was shown each of them once."""
    while True:
        look = draw_look(rng)
        cut = cut_print(rng, look, drawer.symbols)
        art = CardArt(cut)
        if (art.likeness(np.stack(list(cut.values()))) >= THE_SAME).sum() == len(cut):
            return look, CardReader.bundled(art)


def cut_print(rng, look, symbols):
    """The cards of a print as they are learnt from one picture each."""
    cut = {}
    for kind in Kind:
        face, _, _ = draw_face(rng, look, symbols[kind])
        ground = 40.0 if face.mean() > 110 else 215.0
        lit = np.full((face.shape[0] + 90, face.shape[1] + 90, 3), ground, np.float32)
        lit[45:-45, 45:-45] = face
        lit *= np.linspace(0.85, 1.1, lit.shape[1])[None, :, None] * rng.uniform(0.8, 1.0)
        picture = cv2.GaussianBlur(lit + rng.normal(0, 3, lit.shape), (0, 0), 1.0).clip(0, 255).astype(np.uint8)
        cut[kind] = cut_out(str(kind), picture, None, LAYOUT)
    return cut


def draw_plain(rng):
    """The symbols of a plain print."""
    return {kind: draw_symbol(rng, kind) for kind in Kind}


def refusals(numbers, draw, sort):
    """Whether prints with the symbols that `draw` draws are refused, under their kinds and under each other's."""
    judge = CardJudge.bundled()
    for number in numbers:
        rng = np.random.default_rng((_SEED, sort, number))
        try:
            cut = cut_print(rng, draw_look(rng), draw(rng))
        except EnrolmentError:  # a card that is hardly brighter than its ground
            continue
        turn = int(rng.integers(1, len(Kind)))
        for said in (list(Kind), [*list(Kind)[turn:], *list(Kind)[:turn]]):
            symbols = symbols_of(dict(zip(said, cut.values(), strict=True)), judge)
            other = any(kind is not symbol for kind, symbol in symbols.items())
            yield said == list(Kind), other and are_of_one_print(symbols.values(), len(cut))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("strips", type=int, nargs="?", default=400)
    parser.add_argument("first", type=int, nargs="?", default=0)
    asked = parser.parse_args()
    cv2.setNumThreads(1)
    fabrics, told = Fabrics(np.random.default_rng((_SEED, 0))), {}
    reader, numbers = CardReader.bundled(), range(asked.first, asked.first + asked.strips)
    for sort, seen in plain(StripDrawer(fabrics), reader, numbers):
        told.setdefault(sort, Counter())[seen] += 1
    for sort, seen in art(ArtDrawer(fabrics), numbers):
        told.setdefault(sort, Counter())[seen] += 1
    print(f"{'':24}{'strips':>8}{'right':>9}{'unclear':>9}{'not seen':>10}{'wrong':>8}{'at most':>9}")
    for sort, counted in sorted(told.items()):
        total = counted.total()
        shares = "".join(
            f"{counted[name] / total:>{width}.1%}" for name, width in (("right", 9), ("unclear", 9), ("not seen", 10))
        )
        wrong = f"{counted['wrong'] / total:>8.2%}{wilson(counted['wrong'], total)[1]:>9.2%}"
        print(f"{sort:24}{total:>8}{shares}{wrong}")
    for sort, (draw, name) in enumerate(((draw_plain, "plain prints"), (draw_marks, "other art")), 3):
        counted = Counter(refusals(numbers, draw, sort))
        for right, order in ((True, "under their kinds"), (False, "under others")):
            refused, total = counted[right, True], counted[right, True] + counted[right, False]
            print(f"{name} {order}: {refused} of {total} refused")


if __name__ == "__main__":
    main()
