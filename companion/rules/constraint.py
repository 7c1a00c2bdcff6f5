"""What a piece asks of the opponent's next one, as squares and in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from companion.rules.pieces import Kind
from companion.saying import Saying

if TYPE_CHECKING:
    from companion.rules.layout import Layout, Square


@dataclass(frozen=True, slots=True)
class Constraint:
    """What the last piece asks of the next one."""

    square: Square
    kind: Kind

    def mask(self, layout: Layout) -> int:
        """The squares it allows, occupied ones included, as bits of `layout`."""
        index, geometry = layout.index(self.square), layout.geometry
        if self.kind is Kind.STRAIGHT:
            return geometry.straight[index]
        if self.kind is Kind.DIAGONAL:
            return geometry.diagonal[index]
        if self.kind is Kind.PULLER:
            return geometry.touching[index]
        return layout.all & ~geometry.touching[index] & ~(1 << index)

    @property
    def words(self) -> Saying:
        """What it asks for, such as ``Straight at a1: row 1 or column a``."""
        square = str(self.square)
        if self.kind is Kind.STRAIGHT:
            row, column = self.square.row + 1, square[0]
            return Saying(
                "Straight at %(square)s: row %(row)s or column %(column)s", square=square, row=row, column=column
            )
        if self.kind is Kind.DIAGONAL:
            return Saying("Diagonal at %(square)s: a diagonal through %(square)s", square=square)
        if self.kind is Kind.PULLER:
            return Saying("Puller at %(square)s: a square touching %(square)s", square=square)
        return Saying("Pusher at %(square)s: a square not touching %(square)s", square=square)

    def explain(self, layout: Layout) -> Saying:
        """The whole sentence; it says so where a gap in the board cuts a line short."""
        return Saying("%(rule)s, not across a gap", rule=self.words) if self.is_cut_short(layout) else self.words

    def is_cut_short(self, layout: Layout) -> bool:
        """Whether a gap in the board keeps squares in line with this one out of reach."""
        reached = layout.squares_in(self.mask(layout))
        return any(self._in_line_with(other) and other not in reached for other in layout if other != self.square)

    def _in_line_with(self, other: Square) -> bool:
        rows, columns = abs(other.row - self.square.row), abs(other.column - self.square.column)
        if self.kind is Kind.STRAIGHT:
            return not rows or not columns
        return self.kind is Kind.DIAGONAL and rows == columns

    def __str__(self) -> str:
        return str(self.words)
