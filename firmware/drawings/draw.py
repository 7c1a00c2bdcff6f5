"""Draws the pictures of the building guide: ``python firmware/drawings/draw.py`` writes them beside itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from pathlib import Path

INK, COPPER, WOOD, LIGHT, PAPER = "#222", "#b5651d", "#e8d3a9", "#7fb2e5", "#fff"
PIECES = (
    ("light straight", "1k5"), ("light diagonal", "3k3"), ("light pusher", "5k6"), ("light puller", "10k"),
    ("dark straight", "15k"), ("dark diagonal", "27k"), ("dark pusher", "47k"), ("dark puller", "100k"),
)  # fmt: skip


@dataclass
class Drawing:
    """An SVG in the making; lengths are pixels, y downwards."""

    width: int
    height: int
    title: str
    parts: list[str] = field(default_factory=list)

    def line(self, *points: tuple[float, float], colour: str = INK, width: float = 1.6) -> None:
        path = " ".join(f"{x:g},{y:g}" for x, y in points)
        self.parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width}"/>')

    def box(self, x: float, y: float, w: float, h: float, *, fill: str = PAPER, round_: float = 0) -> None:
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" rx="{round_:g}" fill="{fill}" stroke="{INK}" '
            'stroke-width="1.6"/>'
        )

    def dot(self, x: float, y: float, r: float = 3, *, fill: str = INK) -> None:
        self.parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="{r:g}" fill="{fill}" stroke="{INK}"/>')

    def text(
        self, x: float, y: float, words: str, *, size: int = 13, anchor: str = "start", bold: bool = False
    ) -> None:
        weight = ' font-weight="bold"' if bold else ""
        self.parts.append(
            f'<text x="{x:g}" y="{y:g}" font-size="{size}" text-anchor="{anchor}"{weight}>{escape(words)}</text>'
        )

    def resistor(self, x: float, y: float, words: str) -> None:
        """An upright resistor of 44 pixels, its upper end at `x`, `y`."""
        self.line((x, y), (x, y + 8))
        self.box(x - 6, y + 8, 12, 28)
        self.line((x, y + 36), (x, y + 44))
        self.text(x + 12, y + 27, words)

    def ground(self, x: float, y: float) -> None:
        self.line((x, y), (x, y + 8))
        for i, half in enumerate((10, 6, 2)):
            self.line((x - half, y + 8 + 4 * i), (x + half, y + 8 + 4 * i))

    def supply(self, x: float, y: float) -> None:
        self.line((x, y), (x, y - 10))
        self.line((x - 7, y - 10), (x + 7, y - 10))
        self.text(x, y - 15, "5 V", anchor="middle")

    def svg(self) -> str:
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" role="img">',
                f'<g font-family="sans-serif" fill="{INK}">',
                f"<title>{escape(self.title)}</title>",
                f'<rect width="{self.width}" height="{self.height}" fill="{PAPER}"/>',
                *self.parts,
                "</g>\n</svg>\n",
            ]
        )


def schematic() -> Drawing:
    """Nano, multiplexer, one of the sixteen squares, and the LEDs."""
    d = Drawing(900, 560, "Schematic of the tile board")
    d.box(60, 120, 170, 330, fill="#eef4ea", round_=6)
    d.text(145, 150, "Arduino Nano", anchor="middle", bold=True)
    d.text(145, 168, "ATmega328P, 16 MHz", anchor="middle", size=11)
    pins = [("5V", 200), ("D2", 235), ("D3", 260), ("D4", 285), ("D5", 310), ("A0", 378), ("D6", 410), ("GND", 440)]
    for name, y in pins:
        d.text(222, y + 4, name, anchor="end")
        d.line((230, y), (250, y))
    d.text(52, 290, "USB", anchor="end")
    d.line((60, 286), (56, 286), width=8)
    d.box(400, 200, 150, 190, fill="#eef0f8", round_=6)
    d.text(475, 222, "74HC4067", anchor="middle", bold=True)
    for (_, y), name in zip(pins[1:5], ("S0", "S1", "S2", "S3"), strict=True):
        d.line((250, y), (400, y))
        d.text(408, y + 4, name)
    d.line((250, 378), (400, 378))
    d.text(408, 366, "SIG (common)")
    d.text(400, 406, "EN, GND to GND; VCC to 5 V", size=11)
    d.supply(330, 285 - 50)
    d.line((330, 235), (330, 323), colour=PAPER, width=5)
    d.resistor(330, 326, "10k 1 %")
    d.line((330, 235), (330, 326))
    d.dot(330, 378)
    d.line((330, 370), (330, 378))
    for i, (name, y) in enumerate((("C0", 240), ("C1", 265), ("C2", 290), ("C15", 350))):
        d.line((550, y), (600, y))
        d.text(542, y + 4, name, anchor="end")
        if i == 0:
            d.line((600, y), (640, y), (640, 200))
    d.text(575, 325, "…", anchor="middle", size=18)
    d.text(606, 294, "one wire to each square,", size=11)
    d.text(606, 309, "C0 a1, C1 b1, C2 c1 … C15 d4", size=11)
    d.box(610, 60, 200, 140, fill=WOOD, round_=4)
    d.text(820, 80, "square a1", bold=True)
    d.dot(640, 180, 6, fill=COPPER)
    d.dot(780, 180, 6, fill=COPPER)
    d.line((640, 200), (640, 186))
    d.line((780, 186), (780, 205))
    d.ground(780, 205)
    d.box(625, 75, 170, 80, fill="#d9b779", round_=8)
    d.text(710, 95, "piece", anchor="middle", bold=True)
    d.line((640, 174), (640, 130), (680, 130))
    d.box(680, 123, 60, 14)
    d.line((740, 130), (780, 130), (780, 174))
    d.text(710, 117, "1k5 … 100k", anchor="middle", size=11)
    d.line((250, 410), (300, 410), (300, 480), (340, 480))
    d.box(340, 473, 44, 14)
    d.text(362, 465, "330", anchor="middle", size=11)
    d.line((384, 480), (430, 480))
    for i, name in enumerate(("a1", "b1", "…", "d4")):
        x = 430 + 100 * i
        d.box(x, 455, 70, 50, fill=LIGHT, round_=4)
        d.text(x + 35, 477, "WS2812B", anchor="middle", size=11)
        d.text(x + 35, 494, name, anchor="middle", size=11)
        if i < 3:
            d.line((x + 70, 480), (x + 100, 480))
    d.text(340, 530, "every LED to 5 V and GND, too; 470 µF across 5 V and GND where they come in", size=12)
    d.line((250, 440), (270, 440))
    d.ground(270, 440)
    d.supply(262, 200)
    d.line((250, 200), (262, 200))
    d.text(60, 40, "Schematic: one square of sixteen", size=18, bold=True)
    return d


def board() -> Drawing:
    """The board from above: squares, their numbers on the multiplexer, and the way of the LED chain."""
    d = Drawing(620, 660, "Board from above")
    d.text(40, 36, "Board from above, Light sits below", size=18, bold=True)
    d.box(40, 60, 520, 520, fill=WOOD, round_=10)
    side = 120
    for i in range(16):
        row, column = divmod(i, 4)
        x, y = 60 + side * column, 60 + 20 + side * (3 - row)
        d.box(x + 5, y + 5, side - 10, side - 10, fill="#f3e6c8", round_=4)
        d.text(x + 14, y + 24, f"{'abcd'[column]}{row + 1}", bold=True)
        d.text(x + 14, y + 42, f"C{i}", size=11)
        d.dot(x + side / 2 - 22, y + side / 2 + 8, 7, fill=COPPER)
        d.dot(x + side / 2 + 22, y + side / 2 + 8, 7, fill="#c0c0c0")
        d.box(x + side / 2 - 7, y + 18, 14, 14, fill=LIGHT)
        if column < 3:
            d.line((x + side / 2 + 7, y + 25), (x + side + side / 2 - 7, y + 25), colour="#3b78b5", width=2)
        elif row < 3:
            d.line((x + side / 2 + 7, y + 25), (x + side - 1, y + 25), (x + side - 1, y - 1), (66, y - 1),
                   (66, y - side + 25), (60 + side / 2 - 7, y - side + 25), colour="#3b78b5", width=2)  # fmt: skip
    d.dot(60, 610, 7, fill=COPPER)
    d.text(76, 615, "contact to the multiplexer (C0 … C15)")
    d.dot(340, 610, 7, fill="#c0c0c0")
    d.text(356, 615, "contact to GND")
    d.box(53, 630, 14, 14, fill=LIGHT)
    d.text(76, 642, "LED; the blue line is the data wire: D6, a1, b1 … d1, a2 … d4")
    return d


def piece() -> Drawing:
    """A piece and a square, cut in half, and which resistor is in which piece."""
    d = Drawing(760, 470, "Piece and square, cut in half")
    d.text(30, 34, "Piece and square, cut in half", size=18, bold=True)
    d.box(60, 70, 300, 100, fill="#d9b779", round_=8)
    d.text(210, 95, "piece, 30 mm", anchor="middle")
    d.line((120, 160), (120, 130), (180, 130))
    d.box(180, 122, 60, 16)
    d.line((240, 130), (300, 130), (300, 160))
    d.text(210, 154, "resistor, laid flat in a groove", anchor="middle", size=11)
    for x in (120, 300):
        d.box(x - 16, 160, 32, 10, fill="#c0c0c0")
    d.text(376, 170, "steel washer or copper tape,", size=12)
    d.text(376, 186, "flush with the underside", size=12)
    d.box(40, 230, 410, 60, fill=WOOD)
    for x in (120, 300):
        d.box(x - 8, 214, 16, 90, fill=COPPER)
        d.line((x, 304), (x, 330))
    d.box(394, 262, 32, 28, fill=LIGHT)
    d.text(410, 250, "hole, 8 mm", anchor="middle", size=11)
    d.text(410, 310, "LED, face up, beside the piece", anchor="middle", size=11)
    d.text(466, 240, "spring contact (pogo pin P75,", size=12)
    d.text(466, 256, "2 mm above the wood) or a magnet", size=12)
    d.text(466, 272, "with a wire soldered under it", size=12)
    d.text(120, 348, "to C0 … C15", anchor="middle", size=12)
    d.text(300, 348, "to GND", anchor="middle", size=12)
    d.text(30, 390, "Which resistor is in which piece (two pieces of each; 1 %)", bold=True)
    for i, (name, ohm) in enumerate(PIECES):
        column, row = divmod(i, 4)
        d.text(40 + 240 * column, 412 + 17 * row, f"{name}: {ohm}", size=13)
    return d


def main() -> None:
    """Write every drawing."""
    folder = Path(__file__).parent
    for name, drawing in (("schematic", schematic()), ("board", board()), ("piece", piece())):
        (folder / f"{name}.svg").write_text(drawing.svg(), encoding="utf-8")


if __name__ == "__main__":
    main()
