"""How sure a share is that was counted."""

from __future__ import annotations

import math

_Z = 1.96


def wilson(hits: float, count: int) -> tuple[float, float]:
    """Wilson's 95 % interval of `hits` in `count`, from 0 to 1."""
    if count == 0:
        return 0.0, 1.0
    share, more = hits / count, _Z * _Z / count
    spread = _Z * math.sqrt(share * (1 - share) / count + more / (4 * count))
    low, high = ((share + more / 2 + sign * spread) / (1 + more) for sign in (-1, 1))
    return max(0.0, low), min(1.0, high)
