"""The accept windows of a tile board, fitted to the resistors that its pieces really have.

The board tells raw codes; for every kind of piece a person lays all pieces of that kind, anywhere, and the codes of the
squares that are not empty are collected. `fit_windows` makes a window for each kind out of that: from the lowest to the
highest code seen, and from there a third of the way to the neighbours, so that a third of every gap stays a guard band
in which nothing is accepted. A gap that is too narrow for that is refused, naming the two kinds.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from companion.errors import CompanionError, SourceError
from companion.rules import Colour, Kind, Piece
from companion.tiles import wire
from companion.tiles.wire import DEFAULT_BANDS, HIGHEST_CODE, DefaultBands, Refused, SaveBands, SendRaw, SetBand

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from companion.rules import Layout, Square
    from companion.tiles.link import TileBoard

KINDS = tuple(str(Piece(colour, kind)) for colour in Colour for kind in Kind)
"""The kinds of pieces in the order of their windows, which begin at 1."""
PRINTED = ("1k5", "3k3", "5k6", "10k", "15k", "27k", "47k", "100k")
"""What is printed on the resistor of each kind."""
SHORT_HIGH = DEFAULT_BANDS[0][1]
EMPTY_LOW = 975
"""A square that reads less than this has something on it; pieces read at most 959, nothing at least 987."""
NARROWEST_GAP = 15
"""Codes between two kinds that are the least to tell them apart: noise on both sides, and a guard band."""
GUARD_SHARE = 3
WIDEST_KIND = 60
"""Codes from the lowest to the highest piece of a kind that 5 % resistors do not reach, nor two kinds stay below."""
STEADY_CODES = 24
"""A contact whose codes spread more than this is moving, or bad."""
TRIES = 3
"""How often a board may begin anew while it is told what to keep, its first time included."""


class TilesError(CompanionError, ValueError):
    """Codes that no accept windows can be made of; says which pieces are the reason."""


@dataclass(frozen=True, slots=True)
class Seen:
    """The lowest and the highest code of one kind, or of empty squares."""

    name: str
    low: int
    high: int
    squares: tuple[Square, ...] = ()
    """Where its pieces were felt."""

    def __str__(self) -> str:
        pieces = "1 piece" if len(self.squares) == 1 else f"{len(self.squares)} pieces"
        *others, last = map(str, self.squares)
        where = f"{', '.join(others)} and {last}" if others else last
        return f"felt {pieces}, on {where}, reading {self.low} to {self.high}"


@dataclass(frozen=True, slots=True)
class Window:
    """What is accepted as one kind."""

    name: str
    low: int
    high: int
    seen: Seen
    below: int
    """Codes between what was seen and the nearest code seen of the kind below: the margin."""
    above: int


_SHORT = Seen("short", 0, SHORT_HIGH)


def sighting(name: str, samples: Sequence[Sequence[int]], layout: Layout) -> Seen:
    """What was seen of a kind: `samples` holds the codes of all squares of `layout`, several times.

    Raises:
        TilesError: if nothing lies on the board, a contact moves, or the pieces read too far apart for one kind.
    """
    laid = {
        square: (min(codes), max(codes))
        for square, codes in zip(layout, zip(*samples, strict=True), strict=False)
        if min(codes) < EMPTY_LOW
    }
    if not laid:
        raise TilesError(f"no square feels a {name}; is the piece on its contacts, and the resistor soldered in?")
    for square, (low, high) in laid.items():
        if high - low > STEADY_CODES:
            raise TilesError(
                f"a {name} on {square} reads anything from {low} to {high}; "
                "clean the contacts of that square and of the piece"
            )
    lowest, highest = min(laid, key=lambda square: laid[square][0]), max(laid, key=lambda square: laid[square][1])
    seen = Seen(name, laid[lowest][0], laid[highest][1], tuple(laid))
    if seen.high - seen.low > WIDEST_KIND:
        raise TilesError(
            f"{name} reads {seen.low} on {lowest} and {seen.high} on {highest}, too far apart for one kind; "
            "is a wrong piece among them?"
        )
    return seen


def empty_sighting(samples: Sequence[Sequence[int]], layout: Layout) -> Seen:
    """What the empty squares of `layout` read.

    Raises:
        TilesError: if a square does not read as empty.
    """
    for square, codes in zip(layout, zip(*samples, strict=True), strict=False):
        if min(codes) < EMPTY_LOW:
            raise TilesError(
                f"{square} reads {min(codes)} though nothing should be there; "
                "take everything off, or look for a short between its contacts"
            )
    return Seen("empty", min(map(min, samples)), HIGHEST_CODE)


def tell_apart(seen: Seen, before: Sequence[Seen], empty: Seen) -> None:
    """Make sure that a kind lies above those that were seen `before` it, which is their order, and below `empty`.

    Raises:
        TilesError: if it does not, or leaves no room for a guard band; names the nearest one.
    """
    others = [_SHORT, *before, empty]
    nearest = min(others, key=lambda other: max(seen.low - other.high, other.low - seen.high))
    _refuse_close(*((seen, nearest) if nearest is empty else (nearest, seen)))
    if before:
        _refuse_close(before[-1], seen)


def fit_windows(kinds: Sequence[Seen], empty: Seen) -> list[Window]:
    """The windows of the eight kinds and of the empty square, a guard band between any two.

    Raises:
        TilesError: if two kinds are in the wrong order, overlap, or leave no room for a guard band.
    """
    row = [_SHORT, *kinds, empty]
    for below, above in pairwise(row):
        _refuse_close(below, above)
    gaps = [above.low - below.high for below, above in pairwise(row)]
    return [
        Window(
            seen.name,
            seen.low - gaps[i] // GUARD_SHARE,
            min(HIGHEST_CODE, seen.high + (gaps[i + 1] // GUARD_SHARE if i + 1 < len(gaps) else 0)),
            seen,
            gaps[i],
            gaps[i + 1] if i + 1 < len(gaps) else 0,
        )
        for i, seen in enumerate(row[1:])
    ]


def _refuse_close(below: Seen, above: Seen) -> None:
    if above.low - below.high >= NARROWEST_GAP:
        return
    seen = f"{below.name} reads {below.low} to {below.high}, {above.name} {above.low} to {above.high}"
    if above.high < below.low:
        raise TilesError(
            f"{seen}: they are the wrong way round; was a wrong piece laid, or are their resistors swapped?"
        )
    raise TilesError(
        f"{seen}: too close to be told apart; was a wrong piece laid? "
        "Otherwise measure the resistors of both, and clean the contacts"
    )


def collect(board: TileBoard, seconds: float, clock: Callable[[], float]) -> list[tuple[int, ...]]:
    """The codes of all squares, each time that the board tells them, for some seconds of `clock`."""
    samples: list[tuple[int, ...]] = []
    end = clock() + seconds
    last: tuple[int, ...] | None = None
    while clock() < end:
        board.read(0.05)
        if board.session.codes and board.session.codes is not last:
            last = board.session.codes
            samples.append(last)
    if not samples:
        raise SourceError(f"{board.name} tells no codes; is its firmware older than this program?")
    return samples[1:] or samples  # the first may be from before the piece was laid


def hush(board: TileBoard) -> None:
    """Let the board tell no more codes, if it is there; one beyond a network would go on telling them for ever."""
    board.session.send_raw(on=False)
    if board.connected:
        with suppress(SourceError):
            _obeys(board, SendRaw(0, on=False))


def store(board: TileBoard, windows: Sequence[Window]) -> None:
    """Make the board keep the windows.

    Raises:
        SourceError: if it refuses, does not answer, or is reset time and again.
    """
    _carry_out(board, [*(SetBand(0, band, w.low, w.high) for band, w in enumerate(windows, start=1)), SaveBands(0)])


def forget(board: TileBoard) -> None:
    """Make the board use the windows of its firmware again. Raises `SourceError` as `store` does."""
    _carry_out(board, [DefaultBands(0)])


def _carry_out(board: TileBoard, commands: Sequence[wire.Command]) -> None:
    """Have all commands obeyed; from the first again if the board is reset, for it has forgotten what it was told."""
    for _ in range(TRIES):
        if all(_obeys(board, command) for command in commands):
            return
    raise SourceError(
        f"{board.name} is reset time and again while it is told what to keep; try another cable or USB socket"
    )


def _obeys(board: TileBoard, command: wire.Command) -> bool:
    """Wait until the board has obeyed; False if it was reset meanwhile. `SourceError` if no answer comes."""
    session, resets = board.session, board.session.counters.resets
    request = board.ask(command)
    while not request.done:
        board.read(0.05)
        if board.lost or board.session is not session:
            raise SourceError(f"{board.name} was lost before it answered")
    if isinstance(request.answer, Refused) and request.answer.why == "supply":
        raise SourceError(
            f"{board.name} stores nothing while its supply is low; "
            "try a short, thick cable into a socket of the computer itself"
        )
    if isinstance(request.answer, Refused):
        raise SourceError(f"{board.name} refuses {wire.spell(request.command)}: {request.answer.why}")
    return board.session.counters.resets == resets


def table(windows: Sequence[Window]) -> str:
    """The windows and their margins, for people."""
    head = f"{'kind':15} {'seen':>11} {'accepted':>11} {'to below':>9} {'to above':>9}"
    rows = [
        f"{w.name:15} {f'{w.seen.low}-{w.seen.high}':>11} {f'{w.low}-{w.high}':>11} {w.below:>9} {w.above or '':>9}"
        for w in windows
    ]
    return "\n".join([head, *rows])
