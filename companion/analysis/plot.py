"""The margin of a match as it went up and down: as a drawing (SVG) and as bars of text."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from companion.analysis.match import MatchAnalysis

_STEP, _ROW, _LEFT, _TOP, _BOTTOM = 36, 24, 44, 28, 44
"""Pixels for a move, for a point, and around the plot."""
_LEAST_ROWS = 2


def margin_svg(analysis: MatchAnalysis) -> str:
    """A drawing of the margin after each move: Light's lead above the middle line, Dark's below it.

    Complete and self-contained. Colours follow the page's text colour, so it may stand on light or dark ground; the
    turning point is ringed, and a title and description say in words what is drawn.
    """
    margins, rows = analysis.margins, _rows(analysis.margins)
    width, height = _LEFT + _STEP * len(margins), _TOP + 2 * rows * _ROW + _BOTTOM
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"',
        'role="img" aria-labelledby="t d" font-family="sans-serif" font-size="12" fill="currentColor">',
        '<title id="t">Margin with best play, move by move</title>',
        f'<desc id="d">{escape(analysis.sentence)}</desc>',
        *_grid(rows, width),
        *_curve(analysis, rows),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _grid(rows: int, width: int) -> list[str]:
    lines = []
    for point in range(-rows, rows + 1):
        y = _y(point, rows)
        strength = "0.9" if point == 0 else "0.15"
        lines.append(
            f'<path d="M{_LEFT} {y}H{width}" stroke="currentColor" stroke-opacity="{strength}"/>'
            f'<text x="{_LEFT - 8}" y="{y + 4}" text-anchor="end">{abs(point)}</text>'
        )
    return [*lines, _label("Light", _TOP - 12), _label("Dark", _y(-rows, rows) + 20)]


def _label(text: str, y: int) -> str:
    return f'<text x="4" y="{y}">{text}</text>'


def _curve(analysis: MatchAnalysis, rows: int) -> list[str]:
    """The margins as steps, a dot a move, and the moves below."""
    path, marks = f"M{_x(0)} {_y(analysis.margins[0], rows)}", []
    foot = _y(-rows, rows) + 20
    turning = analysis.turning_point
    for number, move in enumerate(analysis.moves, start=1):
        x, y = _x(number), _y(move.after.margin, rows)
        path += f"H{x}V{y}"
        marks.append(f'<circle cx="{x}" cy="{y}" r="3"/>')
        marks.append(f'<text x="{x}" y="{foot}" text-anchor="middle" font-size="11">{escape(move.move.plain)}</text>')
        if move is turning:
            marks.append(f'<circle cx="{x}" cy="{y}" r="9" fill="none" stroke="#c0392b" stroke-width="2"/>')
    return [f'<path d="{path}" fill="none" stroke="currentColor" stroke-width="2"/>', *marks]


def _rows(margins: Sequence[int]) -> int:
    return max(_LEAST_ROWS, *map(abs, margins))


def _x(number: int) -> int:
    return _LEFT + _STEP // 2 + number * _STEP


def _y(margin: int, rows: int) -> int:
    return _TOP + (rows - margin) * _ROW


def margin_bars(analysis: MatchAnalysis) -> str:
    """The same in text: a column for the start and for each move, full blocks for Light's lead, shaded for Dark's."""
    margins, rows = analysis.margins, max(1, *map(abs, analysis.margins))
    lines = [
        f"{abs(row):>2} {_name(row, rows):<5} " + "".join(_cell(margin, row) for margin in margins)
        for row in range(rows, -rows - 1, -1)
    ]
    return "\n".join(line.rstrip() for line in lines)


def _name(row: int, rows: int) -> str:
    return {rows: "Light", -rows: "Dark"}.get(row, "")


def _cell(margin: int, row: int) -> str:
    if row == 0:
        return "──"
    if row > 0:
        return "██" if margin >= row else "  "
    return "▒▒" if margin <= row else "  "
