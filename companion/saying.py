"""What is said to people: in English, and so that a page can say it in another language."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Sequence


_LONGEST = 100
"""So many characters are enough to know a text again."""


def cited(text: str) -> str:
    """`text` in quotes, as Python writes it; of a long one the beginning, and that it goes on.

    >>> cited("a1?")
    "'a1?'"
    """
    return repr(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…")


class Saying(str):
    """A text with its values filled in, as ``%`` does it, which keeps both.

    A value may be a saying itself. What is marked with this class is collected by ``scripts/translations.py``.

    >>> Saying("there is no camera %(path)s", path="/dev/video3")
    'there is no camera /dev/video3'
    """

    __slots__ = ("text", "values")
    text: str
    """Without the values."""
    values: dict[str, object]

    def __new__(cls, text: str, /, **values: object) -> Self:
        """Fill the values in; without any, the text stays as it is."""
        saying = super().__new__(cls, text % values if values else text)
        saying.text, saying.values = text, values
        return saying


def joined(sayings: Sequence[str], separator: str = "; ") -> str:
    """One after the other; empty if there is none."""
    if not sayings:
        return ""
    first, *others = sayings
    return Saying(f"%(this)s{separator}%(that)s", this=first, that=joined(others, separator)) if others else first


def parted(said: str) -> list[str]:
    """The sayings that `joined` made one of, in their order; else what was said, alone."""
    if isinstance(said, Saying) and said.values.keys() == {"this", "that"}:
        return [part for side in said.values.values() if isinstance(side, str) for part in parted(side)]
    return [said]
