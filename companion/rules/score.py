"""The score: every run of n >= 3 consecutive squares of one colour is worth n - 2 points."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from companion.rules.layout import SHORTEST_LINE
from companion.rules.pieces import Colour

if TYPE_CHECKING:
    from collections.abc import Iterator

    from companion.rules.layout import Layout, Square

_UNSCORED_SQUARES = SHORTEST_LINE - 1


@dataclass(frozen=True, slots=True)
class Line:
    """One scoring run: three or more consecutive squares of `colour`, in order along the line."""

    colour: Colour
    squares: tuple[Square, ...]

    @property
    def points(self) -> int:
        """What the run is worth."""
        return len(self.squares) - _UNSCORED_SQUARES

    def __str__(self) -> str:
        return f"{self.squares[0]}-{self.squares[-1]}"


@dataclass(frozen=True, slots=True)
class Score:
    """The points of both players, and the lines they come from. Equal points are equal scores."""

    light: int
    dark: int
    lines: tuple[Line, ...] = field(default=(), compare=False)

    def of(self, colour: Colour) -> int:
        """The points of one player."""
        return self.light if colour is Colour.LIGHT else self.dark

    @property
    def leader(self) -> Colour | None:
        """Who has more points; None when equal."""
        if self.light == self.dark:
            return None
        return Colour.LIGHT if self.light > self.dark else Colour.DARK

    @property
    def plain(self) -> Score:
        """The points alone, as they are logged."""
        return Score(self.light, self.dark)

    def as_dict(self) -> dict[str, int]:
        """``{"light": …, "dark": …}``, as every JSON output has it."""
        return {"light": self.light, "dark": self.dark}

    def __str__(self) -> str:
        return f"{self.light}-{self.dark}"


def score_of(layout: Layout, light: int, dark: int) -> Score:
    """The score of the board on which `light` and `dark` are the masks of the squares each colour holds."""
    lines = (
        *_runs(layout, light, Colour.LIGHT),
        *_runs(layout, dark, Colour.DARK),
    )
    return Score(
        light=sum(line.points for line in lines if line.colour is Colour.LIGHT),
        dark=sum(line.points for line in lines if line.colour is Colour.DARK),
        lines=lines,
    )


def _runs(layout: Layout, held: int, colour: Colour) -> Iterator[Line]:
    """The maximal runs of `held` squares along every line of the board."""
    for line in layout.geometry.lines:
        run: list[int] = []
        for index in (*line, None):
            if index is not None and held >> index & 1:
                run.append(index)
                continue
            if len(run) >= SHORTEST_LINE:
                yield Line(colour, tuple(layout.squares[member] for member in run))
            run = []
