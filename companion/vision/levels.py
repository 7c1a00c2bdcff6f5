"""Arithmetic on grey levels, many times as quick as the library's: every frame needs it dozens of times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeVar, overload

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_Number = TypeVar("_Number", bound=np.generic)
BURNT: Final = 252
"""From this grey level on the darkest channel tells nothing of what is there: it may be as bright as one likes."""


def logarithms(added: float) -> NDArray[np.float32]:
    """Of every grey level, `(256,)`, with so many levels added: what is all but black says nothing of a share."""
    return np.asarray(np.log(np.arange(256, dtype=np.float32) + np.float32(added)))


def ranked(values: NDArray[Any], share: float) -> float:
    """The value that this share of all lies below: one of them, never one in between."""
    return float(_at(values, int(share * values.size), axis=None))


@overload
def middle(values: NDArray[_Number]) -> _Number: ...
@overload
def middle(values: NDArray[_Number], axis: int) -> NDArray[_Number]: ...
def middle(values: NDArray[Any], axis: int | None = None) -> Any:
    """The median along an axis, or of all; of an even number the greater of the two in the middle. Of the same type."""
    return _at(values, (values.size if axis is None else values.shape[axis]) // 2, axis)


def _at(values: NDArray[Any], rank: int, axis: int | None) -> Any:
    if axis is None and values.dtype == np.int16:
        return _counted(values, rank)
    return np.take(np.partition(values, rank, axis=axis), rank, axis=axis)


def _counted(values: NDArray[np.int16], rank: int) -> np.int16:
    """The same of grey levels, by counting them: where most are alike the library's way takes five times as long."""
    least = int(values.min())
    up_to = np.bincount(values.ravel().astype(np.intp) - least).cumsum()
    return np.int16(least + int(up_to.searchsorted(rank, side="right")))


def darkest(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Of pixels `(..., 3)` the level of the darkest channel, `(...)`."""
    one, two, three = np.moveaxis(pixels, -1, 0)
    return np.asarray(np.minimum(np.minimum(one, two), three), np.uint8)
