"""Camera and tiles meet here: a reading is the set of contents that each square may have.

A source keeps its confidence values to itself. What leaves it is what it cannot rule out: ``{None}`` is surely
empty, one piece is a sure piece, four pieces of one colour are "a dark piece, kind not seen", everything is a square
under a hand.

Sets of contents are ints (`Contents`), one bit for each of the nine possible contents, so that intersecting and
comparing them is cheap enough for every square of every frame.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol, Self

from companion.rules import Colour, Content, Kind, Layout, Piece, Square

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Contents = int
"""A set of contents: bit i stands for ``ALL_CONTENTS[i]``."""

ALL_CONTENTS: tuple[Content, ...] = (
    None,
    *(Piece(colour, kind) for colour in Colour for kind in Kind),
)
"""The nine things a square can hold, in the order of their bits: empty, light kinds, dark kinds."""

EMPTY: Contents = 1
ANYTHING: Contents = (1 << len(ALL_CONTENTS)) - 1
"""Nothing is ruled out: what a hidden square may hold."""
SOME_PIECE: Contents = ANYTHING & ~EMPTY
_BIT = {content: 1 << i for i, content in enumerate(ALL_CONTENTS)}

READ_S = 0.05
"""How long whoever has other things to do as well waits for a source's reading."""
LOST_S = 0.2
"""How long a lost source is left alone before it is read again."""


def contents_of(possible: Iterable[Content]) -> Contents:
    """The set of the contents in `possible`."""
    return sum({_BIT[content] for content in possible})


def possible(contents: Contents) -> tuple[Content, ...]:
    """The members of a set, in the order of `ALL_CONTENTS`."""
    return tuple(content for i, content in enumerate(ALL_CONTENTS) if contents >> i & 1)


def only(contents: Contents) -> bool:
    """Whether exactly one content is left."""
    return contents.bit_count() == 1


def sure(contents: Contents) -> Content:
    """The one content of a set that has one; `ValueError` otherwise."""
    if not only(contents):
        raise ValueError(f"{contents:#011b} leaves more than one content")
    return ALL_CONTENTS[contents.bit_length() - 1]


def of_colour(colour: Colour) -> Contents:
    """A piece of `colour` whose kind is not seen: a Green Box cube."""
    return contents_of(Piece(colour, kind) for kind in Kind)


def colours_only(contents: Contents) -> Contents:
    """The same colours, and empty, but any kind of these colours: what a reading says where marks mean nothing."""
    return contents | sum(mask for mask in (of_colour(colour) for colour in Colour) if contents & mask)


def kinds_only(contents: Contents) -> Contents:
    """The same kinds, but of either colour, and empty: what a reading says where only the mark counts."""
    kinds = (contents >> 1 | contents >> 5) & 0b1111
    return EMPTY | kinds << 1 | kinds << 5


@dataclass(frozen=True, slots=True)
class BoardReading:
    """What a source could see of the whole board at one moment."""

    time: float
    """Seconds of the source's own monotonic clock."""
    squares: tuple[Contents, ...]
    """What each square may hold, in the order of `Layout.squares`."""
    hidden: int = 0
    """The squares that something covers, as bits of the layout. They hold `ANYTHING` and contradict nothing."""
    held: int = 0
    """The squares over which a hand may hold what is seen there, as bits of the layout: it does not lie there yet."""
    stale: int = 0
    """The squares that are told as they were last seen, though something has changed there since, as bits of the
    layout: they prove nothing about this moment."""
    still_since: float | None = None
    """Source seconds of the reading before, if the squares in sight were seen not to have moved since."""
    cards: Mapping[Colour, frozenset[Kind]] = field(default_factory=dict)
    """The kinds that the card on top of each player's pile may show; absent where no card is seen, or a hand is."""
    evidence: bytes = b""
    """Whatever the source wants kept in the log as proof: a JPEG of the board, a raw line."""

    def moved(self, places: Sequence[int]) -> BoardReading:
        """The same, but what each square holds was read at its number in `places`: of a board that lies turned."""
        order = list(enumerate(places))

        def mask(bits: int) -> int:
            return sum((bits >> place & 1) << i for i, place in order)

        return replace(
            self,
            squares=tuple(self.squares[place] for place in places),
            hidden=mask(self.hidden),
            held=mask(self.held),
            stale=mask(self.stale),
        )


@dataclass(frozen=True, slots=True)
class SettledSquare:
    """What a square has held for long enough to be believed."""

    contents: Contents
    since: float
    """Source seconds when this content was first seen."""
    after: float
    """Source seconds when what lay here before was last seen. It changed between `after` and `since`; the two tell
    which of two pieces came first, where that can be told at all."""
    late_s: float = 0.0
    """So much `after` is put back, as the source may tell so late of what has come to lie there."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What lies on the board, settled: a square that changes, or is hidden, keeps its last settled contents."""

    time: float
    squares: tuple[SettledSquare, ...]
    """In the order of `Layout.squares`."""
    unsettled: int = 0
    """The squares that are changing or hidden right now, as bits of the layout; what they hold may be old."""
    hidden: int = 0
    """The squares that something covers right now, as bits of the layout."""
    restless: int = 0
    """The squares that have been covered, or have changed, and have not come to rest since; an odd reading does not
    count."""
    held: int = 0
    """The squares that may hold something new which is not settled yet, as bits of the layout: a hand may hold it, or
    two sources contradict each other about it."""
    cards: Mapping[Colour, frozenset[Kind]] = field(default_factory=dict)
    """What the card on top of each player's pile may show that has lain still for long enough; absent else."""
    evidence: bytes = b""


class Source(Protocol):
    """Where readings come from: a camera, a file, a tile board, or a pretended one of these.

    One thread at a time reads it. It is its own context manager; leaving it closes it.
    """

    name: str
    """The text it was opened by, such as ``video:game.mp4``, as `companion.address.shown` tells it."""
    live: bool
    """Whether its clock is the world's; a file's clock is its own, and it can be read faster than it was recorded."""
    settle_s: float
    """How long a square has to be seen at rest before it is believed; 0 where the source itself has waited for that."""
    may_turn: bool
    """Whether the board may come to lie turned before it; that of a tile board is the source itself."""

    @property
    def trouble(self) -> str:
        """Why nothing can be read though the source delivers, such as a board not found; empty if all is well."""
        ...

    def read(self, timeout_s: float) -> BoardReading | None:
        """The next reading, or None when there is no new one within `timeout_s`.

        Raises:
            EndOfSource: after the last reading of a file.
            SourceError: if the device is lost; reading again tries to get it back.
        """
        ...

    def lay_out(self, layout: Layout, sets: int) -> None:
        """Read a board of this layout from now on, with so many sets of pieces in play.

        Raises:
            RulesError: if that cannot be the board that is watched: a recording, or a tile board of other squares.
        """
        ...

    def close(self) -> None:
        """Let go of the device or file; harmless when done twice."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *exception: object) -> None: ...


def board_text(layout: Layout, squares: Iterable[Contents]) -> str:
    """A drawing for people, far side first: ``.`` empty, ``SDPU`` light, ``sdpu`` dark, ``?`` not sure.

    Of a piece whose kind is not seen, as of a Green Box cube, it tells the colour: ``O`` light, ``o`` dark.
    """
    drawn = dict(zip(layout.squares, map(_letter, squares), strict=True))
    return "\n".join(
        " ".join(drawn.get(Square(row, column), " ") for column in range(layout.columns)).rstrip()
        for row in reversed(range(layout.rows))
    )


def is_picture(evidence: bytes) -> bool:
    """Whether a reading's evidence is a JPEG, and not such as the letters of a tile board."""
    return evidence.startswith(b"\xff\xd8")


LETTERS: dict[Content, str] = {content: content.letter if content else "." for content in ALL_CONTENTS}
"""One letter for each content, as the tile board's protocol writes them."""


_KIND_NOT_SEEN = {Colour.LIGHT: "O", Colour.DARK: "o"}


def _letter(contents: Contents) -> str:
    if only(contents):
        return LETTERS[sure(contents)]
    of = (letter for colour, letter in _KIND_NOT_SEEN.items() if contents and not contents & ~of_colour(colour))
    return next(of, "?")
