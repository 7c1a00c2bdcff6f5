"""What a piece asks of the opponent's next one, as squares and in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from companion.rules.pieces import Kind

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
    def asks_for(self) -> str:
        """The squares it asks for in words, such as ``row 1 or column a``."""
        if self.kind is Kind.STRAIGHT:
            return f"row {self.square.row + 1} or column {str(self.square)[0]}"
        if self.kind is Kind.DIAGONAL:
            return f"a diagonal through {self.square}"
        if self.kind is Kind.PULLER:
            return f"a square touching {self.square}"
        return f"a square not touching {self.square}"

    def explain(self, layout: Layout) -> str:
        """The whole sentence; it says so where a gap in the board cuts a line short."""
        return f"{self}, not across a gap" if self.is_cut_short(layout) else str(self)

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
        return f"{self.kind.value.capitalize()} at {self.square}: {self.asks_for}"
