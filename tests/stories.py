"""A scripted table: pieces and hands on one side, the events they cause on the other.

Real readings at a camera's rate go through the real settler and referee; only the picture is left out.
"""

from __future__ import annotations

from dataclasses import replace

from companion import events, script
from companion.referee import Referee
from companion.rules import Game, Piece, Square
from companion.settling import Settler

_OPENING = ("d1<>", "a3><", "a4+", "b4+", "b3<>", "d2<>", "b1x", "a2x")
NEARLY_OVER = (*_OPENING, "c4+", "c2><", "c1><", "b2x", "a1><", "-", "d4x")
"""With d3x for the last of them nobody could go on."""
KINDS = {"+": "straight", "x": "diagonal", "<>": "pusher", "><": "puller"}


def piece(text: str) -> Piece:
    """``"L+"`` is light's straight, ``"D><"`` dark's puller."""
    return Piece.parse(f"{'light' if text[0] == 'L' else 'dark'} {KINDS[text[1:]]}")


def told(event: events.Event) -> str:
    """An event in one short line, as the stories write it."""
    words = TOLD.get(type(event))
    return words(event) if words else type(event).__name__


TOLD = {
    events.MovePlayed: lambda e: f"{e.colour} {e.move}{'!' if e.ruled else ''}",
    events.PassForced: lambda e: f"{e.colour} passes",
    events.LastChance: lambda e: f"last chance {e.colour}",
    events.IllegalPlacement: lambda e: f"illegal {e.square} {e.reason}",
    events.PieceUnclear: lambda e: f"unclear {e.square}",
    events.KindNeeded: lambda e: f"kind? {e.square}",
    events.BoardDisturbed: lambda e: " ".join(["disturbed", *map(str, e.squares)]),
    events.BoardRestored: lambda e: " ".join(["restored", *map(str, e.squares)]),
    events.Unresolved: lambda e: " ".join(["unresolved", *map(str, e.squares)]),
    events.MoveTakenBack: lambda e: f"taken back {e.move}",
    events.SourcesDisagree: lambda e: f"disagree {e.square}",
    events.ChoiceNeeded: lambda e: f"asks {e.question}",
    events.Paused: lambda e: "paused" if e.paused else "goes on",
    events.GameOver: lambda e: f"over {e.score}",
}


class Scene(script.Scene):
    """A table in front of a camera, with its referee; here `play` takes moves, and tells what they caused."""

    def __init__(self, game: Game | None = None, *, variant: str = "standard") -> None:
        self.referee = Referee(game or Game.start(), variant=variant)
        super().__init__(self.referee.game.layout)
        self.settler = Settler(self.layout)
        self.cards: dict = {}
        self.held: set[Square] = set()
        """Where a piece is seen that a hand may hold."""
        self.events: list[events.Event] = self.referee.start(0.0)

    @property
    def game(self) -> Game:
        return self.referee.game

    def look(self, seconds: float = 0.8) -> list[str]:
        """Let the camera look for so long; what was told meanwhile."""
        heard: list[events.Event] = []
        held = self.layout.mask(self.held)
        for reading in self.hold(seconds):
            heard += self.referee.see(self.settler.feed(replace(reading, cards=self.cards, held=held)))
        self.events += heard
        return [told(event) for event in heard]

    def put(self, square: str, what: str) -> None:
        self.pieces[Square.parse(square)] = piece(what)

    def lift(self, square: str) -> None:
        del self.pieces[Square.parse(square)]

    def hand(self, *squares: str) -> None:
        self.covered = {Square.parse(square) for square in squares}

    def play(self, *moves: str) -> list[str]:
        """Play moves one after the other, each with a hand that comes and goes."""
        heard: list[str] = []
        for move in moves:
            if move == "-":
                continue
            colour = "L" if str(self.game.to_move) == "light" else "D"
            self.hand(move[:2])
            heard += self.look(0.3)
            self.put(move[:2], colour + move[2:])
            heard += self.look(0.3)
            self.hand()
            heard += self.look(0.8)
        return heard
