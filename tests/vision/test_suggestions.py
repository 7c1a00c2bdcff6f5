"""Places that lines suggest, where they suggest none."""

from __future__ import annotations

import numpy as np

from companion.vision.mesh import Mesh
from companion.vision.suggestions import FittedPicture, LinesSeen

MESH = Mesh(np.ones((4, 4), np.bool_))


def test_what_goes_round_nothing_is_no_place(monkeypatch):
    """Before, in a picture full of lines, corners that had come to lie on each other were fitted to infinity."""
    picture = np.random.default_rng(1).integers(0, 256, (300, 400, 3), dtype=np.uint8)
    picture[::20] = picture[:, ::20] = 0
    seen = LinesSeen(picture)
    twice = np.array([[100.0, 200], [200, 200], [200, 200], [100, 100]])
    in_line = np.array([[100.0, 200], [150, 200], [200, 200], [120, 100]])
    monkeypatch.setattr(seen, "suggest", lambda mesh: [twice, in_line])
    score, corners = seen.tell(FittedPicture.of(picture), MESH)
    assert score == 0
    assert np.isfinite(corners).all()
