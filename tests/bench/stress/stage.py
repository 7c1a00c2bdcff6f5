"""What hands do, second by second: acts that are played one after the other or side by side, and their truth.

An act is a generator that changes the table and yields once for every frame. Lengths are squares, times seconds.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from companion.camera.play import CARD_THICKNESS, Card, Lying
from companion.rules import Colour, Kind, Move, Piece, Square
from tests.bench.stress.look import Look
from tests.bench.stress.studio import Hand, Moment, Slide, Thing

Act = Iterator[None]
_GRIP_Y = 0.12
_ARM = 7.0
_SPARE = 0.98
_CARRIED = 0.45
_PILE_ASIDE = 0.45
"""Between the board, a pile of cards and the cubes, in squares."""
_CUBE_STEP = 0.72


@dataclass(slots=True)
class Played:
    """A move of the truth."""

    move: Move
    put: float
    """When the piece came to rest."""
    off: float | None = None
    """When no hand was seen over the board any more."""
    after: str = ""
    """The disturbance that it was played in, if any."""


class Stage:
    """A table with two players, and what is true of it."""

    def __init__(self, look: Look, rng: np.random.Generator) -> None:
        self.rng, self.look, self.step_s = rng, look, 1 / look.fps
        self.time = 0.0
        self.frame = 0
        self.slide = Slide()
        self.spares: dict[Piece, list[Lying]] = defaultdict(list)
        self.board: dict[Square, Lying] = {}
        self.piles: dict[Colour, list[Lying]] = {colour: [] for colour in Colour}
        """The cards that were laid, of the Green Box."""
        self.things: list[Thing] = []
        self.hands: dict[object, tuple[Hand, Lying | None]] = {}
        self._mess = np.array([0.08, 0.08, 0.09]) * (float(rng.uniform(0.2, 1.2)) if look.cards else 0.0)
        """How untidily cards are laid: x, y, and turned."""
        self.pace = float(rng.uniform(0.75, 1.25))
        """How slow the hands are."""
        self.played: list[Played] = []
        self.lay: dict[Square, list[tuple[float, Piece | None]]] = defaultdict(list)
        """What lay on each square, from when on."""
        self.acts: list[tuple[float, str]] = []
        """The disturbances, and when each began."""
        for piece in (Piece(colour, kind) for colour in Colour for kind in Kind):
            for column in range(2 * look.layout.default_sets):
                x, y = self._aside(piece, column)
                self.spares[piece].append(self._loosely(Lying(piece, x, y, 0.0, 0.0), 1.5))

    def moment(self) -> Moment:
        """The table now."""
        on_board = tuple(self._on_slide(lying) for lying in self.board.values())
        spares = tuple(lying for some in self.spares.values() for lying in some)
        hands = tuple(hand for hand, _ in self.hands.values())
        held = tuple(lying for _, lying in self.hands.values() if lying is not None)
        cards = tuple(card for pile in self.piles.values() for card in pile)
        return Moment((*cards, *spares, *on_board), held, hands, tuple(self.things), self.slide)

    def _on_slide(self, lying: Lying) -> Lying:
        if self.slide == Slide():
            return lying
        x, y = self.slide.of(np.array([[lying.x, lying.y]]), self.look.middle)[0]
        return replace(lying, x=float(x), y=float(y), turn=lying.turn + self.slide.turn)

    def column(self, edge: float) -> float:
        """Some x of the board, not nearer than this to its edges."""
        return float(self.rng.uniform(edge, self.look.layout.columns - edge))

    def place(self) -> tuple[float, float]:
        """Some x and y of the board."""
        edge = 0.3
        x = self.column(edge)
        return x, float(self.rng.uniform(edge, self.look.layout.rows - edge))

    # Time ---------------------------------------------------------------------------------------------------------

    def during(self, seconds: float) -> Iterator[float]:
        """Shares from above 0 to 1, one for each frame of so many seconds."""
        frames = max(1, round(seconds / self.step_s))
        for i in range(frames):
            yield (i + 1) / frames

    def wait(self, low: float, high: float | None = None) -> Act:
        """Nothing happens for so long."""
        for _ in self.during(low if high is None else float(self.rng.uniform(low, high))):
            yield

    @staticmethod
    def together(*acts: Act) -> Act:
        """Several hands at once."""
        left = list(acts)
        while left:
            left = [act for act in left if next(act, StopIteration) is not StopIteration]
            if left:
                yield

    # Hands --------------------------------------------------------------------------------------------------------

    def reach(self, who: object, x: float, y: float, z: float, seconds: float, *, turn: float = 0.0) -> Act:
        """The hand goes there, with what it holds; a hand that is not there comes from its shoulder."""
        if who not in self.hands:
            self.hands[who] = (self._away(who, x), None)
        hand, held = self.hands[who]
        for share in self.during(seconds * self.pace):
            done = share * share * (3 - 2 * share)
            arc = (
                _CARRIED * math.sin(math.pi * done) ** 0.7 if held and math.hypot(x - hand.x, y - hand.y) > 0.4 else 0.0
            )
            at = [a + (b - a) * done for a, b in ((hand.x, x), (hand.y, y), (hand.z, z))]
            at[2] = max(at[2], arc)
            now = replace(hand, x=at[0], y=at[1], z=at[2])
            carried = held and replace(
                held, x=at[0], y=at[1] + self._grip(who), z=at[2], turn=held.turn + (done * turn)
            )
            self.hands[who] = (now, carried)
            yield

    def leave(self, who: object, seconds: float = 0.5) -> Act:
        """The hand goes out of sight."""
        hand, _ = self.hands[who]
        away = self._away(who, hand.x)
        yield from self.reach(who, away.x, away.y, away.z, seconds)
        self.hands.pop(who, None)

    def grab(self, who: object, lying: Lying) -> Act:
        """The hand goes to a piece."""
        yield from self.reach(who, lying.x, lying.y - self._grip(who), 0.0, 0.55)
        yield from self.wait(0.12)

    def _hold(self, who: object, lying: Lying | None) -> None:
        self.hands[who] = (self.hands[who][0], lying)

    def _grip(self, who: object) -> float:
        return _GRIP_Y if self._near_side(who) else -_GRIP_Y

    @staticmethod
    def _near_side(who: object) -> bool:
        return who is Colour.LIGHT or (isinstance(who, tuple) and who[0] is Colour.LIGHT)

    def _away(self, who: object, x: float) -> Hand:
        near = self._near_side(who)
        middle, far = self.look.middle[0], self.look.layout.rows
        shoulder = (middle + (0.35 * (x - middle)), -_ARM if near else far + _ARM)
        return Hand((x + middle) / 2, -4.2 if near else far + 4.2, _CARRIED, shoulder, 0 if near else 1)

    # Pieces -------------------------------------------------------------------------------------------------------

    def _loosely(self, lying: Lying, how: float = 1.0) -> Lying:
        dx, dy, turn = np.clip(self.rng.normal(0, 1, 3), -2, 2) * how
        quarter = 0 if self.look.pieces.round else int(self.rng.integers(4))
        turned = math.radians(4) * float(turn) + quarter * math.pi / 2
        return replace(lying, x=lying.x + 0.035 * float(dx), y=lying.y + 0.035 * float(dy), turn=turned)

    def _aside(self, piece: Piece, column: int) -> tuple[float, float]:
        """Where the spares of a piece lie beside the board; cubes beyond their owner's cards."""
        if self.look.cards is not None:
            outwards, edge = self._own_side(piece.colour)
            away = 2 * _PILE_ASIDE + self.look.cards.width + 0.3 + _CUBE_STEP * column
            return edge + outwards * away, self.look.middle[1] + (1.5 - list(Kind).index(piece.kind)) * _CUBE_STEP
        aside = _SPARE * (column + 1)
        x = self.look.layout.columns + aside if piece.colour is Colour.LIGHT else -aside
        return x, self.look.middle[1] + (1.5 - list(Kind).index(piece.kind)) * _SPARE

    def fetch(self, who: object, piece: Piece) -> Act:
        """A spare is taken."""
        spare = self.spares[piece].pop()
        self.spares[piece].append(spare)
        yield from self.grab(who, spare)
        self.spares[piece].remove(spare)
        self._hold(who, spare)

    def put(self, who: object, square: Square, seconds: float = 0.7) -> Act:
        """What the hand holds is put on a square; the hand stays."""
        target = self._loosely(Lying(self.hands[who][1].piece, square.column + 0.5, square.row + 0.5, 0.0, 0.0))
        turn = (target.turn - self.hands[who][1].turn + math.pi / 4) % (math.pi / 2) - math.pi / 4
        yield from self.reach(who, target.x, target.y - self._grip(who), 0.0, seconds, turn=turn)
        held = self.hands[who][1]
        self.board[square] = replace(held, z=0.0)
        self._hold(who, None)
        self.lay[square].append((self.time, held.piece))
        yield from self.wait(0.15)

    def lift(self, who: object, square: Square) -> Act:
        """A piece is taken from its square."""
        yield from self.grab(who, self.board[square])
        self._hold(who, self.board.pop(square))
        self.lay[square].append((self.time, None))

    def put_aside(self, who: object) -> Act:
        """What the hand holds goes back to the spares."""
        piece = self.hands[who][1].piece
        x, y = self._aside(piece, len(self.spares[piece]))
        yield from self.reach(who, x, y - self._grip(who), 0.0, 0.6)
        self.spares[piece].append(replace(self.hands[who][1], z=0.0))
        self._hold(who, None)

    def _own_side(self, colour: Colour) -> tuple[int, int]:
        """On which side of the board a player's cards lie, -1 left or 1 right, and the x of that edge."""
        return (-1, 0) if colour is Colour.LIGHT else (1, self.look.layout.columns)

    def lay_card(self, who: Colour, kind: Kind) -> Act:
        """A hand brings a card and lays it on its player's pile, towards whom it stands; the hand stays."""
        outwards, edge = self._own_side(who)
        x, y = edge + outwards * (_PILE_ASIDE + self.look.cards.width / 2), self.look.middle[1]
        upright = 0.0 if who is Colour.LIGHT else math.pi
        dx, dy, turn = np.clip(self.rng.normal(0, 1, 3), -2, 2) * self._mess
        place = (x + float(dx), y + float(dy))
        if who not in self.hands:
            self.hands[who] = (self._away(who, place[0]), None)
        hand = self.hands[who][0]
        self._hold(who, Lying(Card(who, kind), hand.x, hand.y + self._grip(who), hand.z, upright + float(turn)))
        yield from self.reach(who, place[0], place[1] - self._grip(who), 0.0, 0.8)
        laid = replace(self.hands[who][1], z=len(self.piles[who]) * CARD_THICKNESS)
        self.piles[who].append(laid)
        self._hold(who, None)
        yield from self.wait(0.15)

    def commit(self, move: Move, after: str = "") -> None:
        """The move is meant; it is played as its piece lies now."""
        self.played.append(Played(move, self.time, None, after))

    def seen(self, *, hand_on_board: bool) -> None:
        """A frame was drawn."""
        for played in self.played:
            if played.off is None and not hand_on_board and self.time > played.put:
                played.off = self.time

    def content(self, square: Square, time: float) -> Piece | None:
        """What lay on a square at a time."""
        return next((piece for since, piece in reversed(self.lay[square]) if since <= time), None)

    def note(self, name: str) -> None:
        """A disturbance begins."""
        self.acts.append((self.time, name))

    def disturbance_at(self, time: float) -> str:
        """The last disturbance that had begun by then."""
        return next((name for since, name in reversed(self.acts) if since <= time), "nothing")
