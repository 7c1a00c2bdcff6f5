"""Contact sheets: the pictures that a bench got wrong, side by side, to be looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

import cv2
import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

_COLUMNS = 8
_CAPTION = 18
_QUALITY = 80


def write_sheet(path: Path, pictures: list[tuple[str, NDArray[np.uint8]]], side: int) -> None:
    """Write captioned BGR pictures, each fitted into a tile of `side` pixels."""
    tiles = [_tile(caption, picture, side) for caption, picture in pictures]
    tiles += [np.full_like(tiles[0], 255)] * (-len(tiles) % _COLUMNS)
    rows = [np.hstack(tiles[i : i + _COLUMNS]) for i in range(0, len(tiles), _COLUMNS)]
    cv2.imwrite(str(path), np.vstack(rows), [cv2.IMWRITE_JPEG_QUALITY, _QUALITY])


def _tile(caption: str, picture: NDArray[np.uint8], side: int) -> NDArray[np.uint8]:
    scale = side / max(picture.shape[:2])
    fitted = cv2.resize(
        picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC
    )
    tile = np.full((side + _CAPTION, side, 3), 255, np.uint8)
    tile[: fitted.shape[0], : fitted.shape[1]] = fitted[:side, :side]
    cv2.putText(tile, caption, (2, side + 13), cv2.FONT_HERSHEY_SIMPLEX, 0.36, (40, 40, 40), 1, cv2.LINE_AA)
    return tile
