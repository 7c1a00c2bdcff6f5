"""Squares in which something moves for long though nothing is over them: in the shadow of leaves, or of a curtain.

Motion alone does not tell light from things. What a square shows does: a hand is seen over it now and then, and what it
holds is not on the board in one look and gone in the next. So of a square that has not come to rest for long it is told
what nearly all looks of some seconds have left possible, if in none of them anything lay over it.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from companion.readings import ALL_CONTENTS

if TYPE_CHECKING:
    from companion.readings import Contents

_LONG_S = 4.0
"""Nobody's hand moves over a square for longer without a rest."""
_AGAIN_S = 30.0
"""Where light has swayed, what moves within so much time is taken for light at once."""
_REST_S = 1.0
"""What has not moved for so long has come to rest."""
_LOOKS_S = 2.0
"""Looks of so many seconds say what is there."""
_FEWEST = 5
_ODD_SHARE = 4
"""One look in this many may be wrong."""


@dataclass(slots=True)
class _Square:
    began: float = math.inf
    """When it began to move, if it has not come to rest since."""
    moved: float = -math.inf
    """When it moved last."""
    swayed: float = -math.inf
    """When nothing but light moved there last."""
    looks: deque[tuple[float, Contents | None]] = field(default_factory=deque)
    """What was possible at each look; None where something lay over it."""

    def see(self, time: float, *, moves: bool) -> bool:
        if time - self.moved > _REST_S:
            self.began = time if moves else math.inf
            self.looks.clear()
        if moves:
            self.moved = time
        return time - self.began >= (0 if time - self.swayed < _AGAIN_S else _LONG_S)

    def told(self, time: float) -> Contents | None:
        while len(self.looks) > 1 and self.looks[1][0] <= time - _LOOKS_S:
            self.looks.popleft()
        seen = [contents for _, contents in self.looks if contents is not None]
        if len(seen) < max(len(self.looks), _FEWEST) or self.looks[0][0] > time - _LOOKS_S:
            return None
        bits = (1 << i for i in range(len(ALL_CONTENTS)))
        often = (bit for bit in bits if sum(bool(bit & each) for each in seen) * _ODD_SHARE > len(seen))
        self.swayed = time
        return seen[-1] | sum(often)


class Unrest:
    """Which squares of a board move for long, and what the looks at them say; times are source seconds."""

    def __init__(self, squares: int) -> None:
        self._squares = [_Square() for _ in range(squares)]

    def forget(self) -> None:
        """The board is not where it was."""
        self._squares = [_Square() for _ in self._squares]

    def see(self, time: float, moves: list[bool]) -> list[bool]:
        """Which squares have not come to rest for long, when these move now."""
        return [square.see(time, moves=now) for square, now in zip(self._squares, moves, strict=True)]

    def look(self, time: float, square: int, contents: Contents | None) -> None:
        """Count a look at a restless square: what it may hold, or None if something lies over it."""
        self._squares[square].looks.append((time, contents))

    def told(self, time: float) -> dict[int, Contents]:
        """The squares over which nothing was for long, and what each may hold: never less than at the last look."""
        told = {i: square.told(time) for i, square in enumerate(self._squares)}
        return {i: contents for i, contents in told.items() if contents is not None}
