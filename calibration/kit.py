"""What to print, cut out and play with: instructions, the mat, sixteen pieces, the lens target.

One PDF, each page drawn in millimetres from `companion.mat`, with a bar to check the printer by.
"""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np
from fpdf import FPDF
from PIL import Image

from calibration.lens import target_picture
from companion import mat
from companion.errors import CompanionError
from companion.rules import Colour, Kind

if TYPE_CHECKING:
    from collections.abc import Callable

PAPERS: Final = {"a4": (210.0, 297.0), "letter": (215.9, 279.4)}
"""Width and height in millimetres."""
_FONTS = Path(__file__).parent / "fonts"
TITLE: Final = "Mijnlieff companion: the printable kit"
"""In every PDF of this module, by which it is known."""
_BAR_MM = 100
_INK, _PAPER, _BROWN, _GREY = (0, 0, 0), (255, 255, 255), (74, 52, 40), (150, 150, 150)
_PIXELS_PER_MODULE = 8
_LENS_MODULE_MM = 1.5
"""Greatest length of which the lens target's squares and markers are multiples."""

INSTRUCTIONS: Final = {
    "Print": "Print all pages at 100 % (not “fit to page”) on heavy paper, or glue them on card. The bar on each page "
    "must be 100 mm long; if it is not, everything works all the same, only in another size.",
    "The mat": "Lay the mat flat, with the word LIGHT before the player who begins. Keep its twelve markers free of "
    "hands, cups and pieces; as long as three of them are seen, the camera knows where the board is and which side is "
    "whose. Matt paper is better than glossy.",
    "The pieces": "Cut out the sixteen pieces, or stick them on tiles of wood, 26 mm wide. Straight + : the next piece "
    "goes on its row or column. Diagonal x : on a diagonal through it. Pusher (large ring): on a square that does not "
    "touch it. Puller (small ring): on a square that touches it, corners included.",
    "The camera": "Put it where it sees the whole mat, from above rather than from the side, without a lamp mirrored "
    "in the board. Then: companion calibrate check camera:0",
    "Play": "companion run --source camera:0",
    "The lens target": "For a wide lens, in whose pictures straight edges look bent. Glue the target on something flat "
    "and take ten pictures of it with the camera you play with: tilted this way and that, near and far, in the middle "
    "and in the corners. Then: companion calibrate lens *.jpg -o lens.json, and play with --profile lens.json",
}
"""The first page: headings and what is said under them."""


class KitError(CompanionError, ValueError):
    """A paper that the kit does not fit on."""


def draw_kit(paper: str) -> bytes:
    """The PDF for a paper of `PAPERS`; `KitError` for another one."""
    if paper not in PAPERS:
        raise KitError(f"there is no kit for the paper {paper!r}; known are {', '.join(sorted(PAPERS))}")
    pages: tuple[tuple[str, Callable[[_Sheet], None]], ...] = (
        ("Mijnlieff: the kit", _instructions),
        ("The mat", _mat),
        ("The pieces", _pieces),
        ("The lens target", _lens_target),
    )
    sheet = _Sheet(paper)
    for title, draw in pages:
        sheet.begin(title)
        draw(sheet)
    return bytes(sheet.pdf.output())


class _Sheet:
    """Pages of one paper, drawn on in millimetres from the upper left."""

    def __init__(self, paper: str) -> None:
        self.width, self.height = PAPERS[paper]
        self.pdf: Any = FPDF(unit="mm", format=(self.width, self.height))
        self.pdf.set_auto_page_break(False)
        self.pdf.set_title(TITLE)
        self.pdf.add_font("title", fname=_FONTS / "young-serif.ttf")
        self.pdf.add_font("text", fname=_FONTS / "alegreya-sans-500.ttf")

    def begin(self, title: str) -> None:
        """A page with its title and its bar."""
        self.pdf.add_page()
        self.text(self.width / 2, 11, title, 15, font="title")
        left, y = (self.width - _BAR_MM) / 2, self.height - 9
        self.stroke(0.3, _INK)
        self.pdf.line(left, y, left + _BAR_MM, y)
        for i in range(11):
            self.pdf.line(left + 10 * i, y, left + 10 * i, y - (3 if i % 5 == 0 else 1.5))
        self.text(self.width / 2, y + 3.5, "100 mm", 8)

    def text(self, x: float, y: float, words: str, size: float, *, font: str = "text", colour: Any = _INK) -> None:
        """Words centred at a point."""
        self.pdf.set_font(font, size=size)
        self.pdf.set_text_color(*colour)
        room = 2 * min(x, self.width - x)
        self.pdf.set_xy(x - room / 2, y - 3)
        self.pdf.cell(room, 6, words, align="C")

    def stroke(self, width: float, colour: Any) -> None:
        """How lines are drawn from now on."""
        self.pdf.set_line_width(width)
        self.pdf.set_draw_color(*colour)

    def block(self, x: float, y: float, width: float, height: float, colour: Any) -> None:
        """A filled rectangle."""
        self.pdf.set_fill_color(*colour)
        self.pdf.rect(x, y, width, height, style="F")


def _instructions(sheet: _Sheet) -> None:
    pdf, left, width = sheet.pdf, 25.0, sheet.width - 50
    pdf.set_y(28)
    for heading, words in INSTRUCTIONS.items():
        pdf.set_x(left)
        pdf.set_font("title", size=13)
        pdf.set_text_color(*_BROWN)
        pdf.cell(width, 8, heading, new_x="LMARGIN", new_y="NEXT")
        pdf.set_x(left)
        pdf.set_font("text", size=12)
        pdf.set_text_color(*_INK)
        pdf.multi_cell(width, 5.6, words, align="L", new_x="LMARGIN", new_y="NEXT")
        pdf.ln(4)


def _mat(sheet: _Sheet) -> None:
    left, bottom = (sheet.width - mat.BOARD_MM) / 2, (sheet.height + mat.BOARD_MM) / 2

    def down(y: float) -> float:
        return bottom - y

    sheet.stroke(0.5, _BROWN)
    for i in range(mat.SQUARES + 1):
        at = i * mat.SQUARE_MM
        sheet.pdf.line(left + at, bottom, left + at, bottom - mat.BOARD_MM)
        sheet.pdf.line(left, bottom - at, left + mat.BOARD_MM, bottom - at)
    for marker in mat.MARKERS:
        _marker(sheet, marker.number, left + marker.left, down(marker.bottom + mat.MARKER_MM))
    beyond = mat.REACH_MM + 7
    sheet.text(sheet.width / 2, bottom + beyond, "LIGHT", 12, font="title")
    sheet.text(sheet.width / 2, bottom - mat.BOARD_MM - beyond, "DARK", 12, font="title")
    for i in range(mat.SQUARES):
        middle = (i + 0.5) * mat.SQUARE_MM
        sheet.text(left + middle, bottom + 3, "abcd"[i], 9, colour=_GREY)
        sheet.text(left - 3, bottom - middle, str(i + 1), 9, colour=_GREY)


def _marker(sheet: _Sheet, number: int, x: float, y: float) -> None:
    """A marker as black cells, each its own rectangle, a hair wider so that no white shows between them."""
    dictionary = cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, mat.DICTIONARY))
    cells = cv2.aruco.generateImageMarker(dictionary, number, mat.MODULES)
    size, hair = mat.MARKER_MM / mat.MODULES, 0.02
    for row, column in np.argwhere(cells == 0).tolist():
        wide = hair if column < mat.MODULES - 1 else 0
        high = hair if row < mat.MODULES - 1 else 0
        sheet.block(x + column * size, y + row * size, size + wide, size + high, _INK)


def _pieces(sheet: _Sheet) -> None:
    """Sixteen pieces in the arrangement that `calibrate enrol` wants, dark ones on top as the far side is."""
    gap, size = 6.0, mat.PIECE_MM
    left = (sheet.width - 4 * size - 3 * gap) / 2
    rows = [
        (colour, kinds)
        for colour in (Colour.DARK, Colour.LIGHT)
        for kinds in ((Kind.PUSHER, Kind.PULLER), (Kind.STRAIGHT, Kind.DIAGONAL))
    ]
    for row, (colour, kinds) in enumerate(rows):
        for column in range(4):
            _piece(sheet, left + column * (size + gap), 45 + row * (size + gap), colour, kinds[column // 2])
    sheet.text(sheet.width / 2, 45 + 4 * (size + gap) + 8, "Laid out like this, they can be enrolled:", 11)
    sheet.text(
        sheet.width / 2,
        45 + 4 * (size + gap) + 15,
        "companion calibrate enrol --empty empty.jpg --pieces pieces.jpg -o set.json",
        11,
    )


def _piece(sheet: _Sheet, x: float, y: float, colour: Colour, kind: Kind) -> None:
    pdf, size = sheet.pdf, mat.PIECE_MM
    body, ink = (_PAPER, _INK) if colour is Colour.LIGHT else (_BROWN, _PAPER)
    sheet.block(x, y, size, size, body)
    sheet.stroke(0.2, _GREY)
    pdf.rect(x, y, size, size)
    sheet.stroke(0.09 * size, ink)
    middle, across = (x + size / 2, y + size / 2), 0.32 * size
    if kind in (Kind.PUSHER, Kind.PULLER):
        radius = (0.34 if kind is Kind.PUSHER else 0.15) * size
        pdf.ellipse(middle[0] - radius, middle[1] - radius, 2 * radius, 2 * radius)
        return
    for dx, dy in ((across, 0.0), (0.0, across)) if kind is Kind.STRAIGHT else ((across, across), (across, -across)):
        pdf.line(middle[0] - dx, middle[1] - dy, middle[0] + dx, middle[1] + dy)


def _lens_target(sheet: _Sheet) -> None:
    width, height = (n * mat.LENS_SQUARE_MM for n in mat.LENS_SQUARES)
    picture = target_picture(_PIXELS_PER_MODULE / _LENS_MODULE_MM)
    file = BytesIO()
    Image.fromarray(picture).save(file, "PNG")
    sheet.pdf.image(file, x=(sheet.width - width) / 2, y=(sheet.height - height) / 2, w=width, h=height)
