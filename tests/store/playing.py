"""Matches to log: the rule book's example, and one event of every kind."""

import random

from companion import events
from companion.rules import Colour, Game, MatchText, Move, Piece, Score, Square, parse_moves
from companion.store.retelling import events_telling

EXAMPLE = "1. a1+ a3>< 2. a2+ a4<> 3. b2>< c2+ 4. c3<> c1x 5. d2>< d3+ 6. d4x - 7. b4x - 8. b3<> b1<>"
A1, B2 = Square.parse("a1"), Square.parse("b2")
DARK_PULLER = Piece.parse("dark puller")


def example_events(table="1"):
    """The worked example, as the referee would tell it."""
    game = Game.replay(parse_moves(EXAMPLE))
    return tuple(events_telling(MatchText(game), table=table))


def one_of_each():
    """An event of every kind, with every field filled."""
    here = {"time": 1.25, "table": "1", "ply": 3}
    return (
        events.MatchStarted(**here, first="anywhere", layout="8x2", variant="green-box"),
        events.MovePlayed(**here, colour=Colour.DARK, move="a3><", score=Score(2, 1), ruled=True),
        events.PassForced(**here, colour=Colour.LIGHT),
        events.LastChance(**here, colour=Colour.LIGHT, legal=(A1, B2)),
        events.IllegalPlacement(
            **here, square=A1, content=DARK_PULLER, reason="turn", legal=(A1, B2), words="it is Light's turn"
        ),
        events.PieceUnclear(**here, square=A1, contents=(None, DARK_PULLER)),
        events.KindNeeded(**here, square=A1, contents=(DARK_PULLER, Piece.parse("dark pusher"))),
        events.BoardDisturbed(**here, squares=(A1, B2)),
        events.BoardRestored(**here, squares=(A1,)),
        events.MoveTakenBack(**here, move="a1+"),
        events.Corrected(**here, before=("a1+", "-"), after=("L:a1x!",), position=".... dark -"),
        events.ChoiceNeeded(
            **here, question="order", choices=("a1+ b2x", "b2x a1+"), squares=(A1, B2), illegal=("a3><",)
        ),
        events.SourceLost(**here, source="camera:0", why="it was unplugged: «Übung»"),
        events.SourceBack(**here, source="camera:0", why="it is back"),
        events.SourcesDisagree(**here, square=A1, contents=(None, DARK_PULLER), words="camera:0 says nothing"),
        events.Paused(**here, paused=True),
        events.Resigned(**here, colour=Colour.DARK),
        events.Unresolved(**here, squares=(B2,)),
        events.GameOver(**here, moves=("a1+", "-"), score=Score(1, 1), winner=None),
    )


def random_match(seed):
    """Events of a random game with rulings, takebacks and corrections, and the game that they leave."""
    choose = random.Random(seed)
    game = Game.start(choose.choice(["outside", "anywhere"]))
    told = []
    while game.to_move is not None:
        deeds = [_play, _play, _play, _play, _rule, _take_back, _correct]
        game, happened = choose.choice(deeds)(choose, game)
        told += happened
    return told, game


def _play(choose, game):
    kinds = [kind for kind, left in game.in_hand(game.to_move).items() if left]
    move = Move(choose.choice(sorted(game.legal_squares())), choose.choice(kinds), game.to_move)
    return _placed(choose, game, game.play(move), move)


def _rule(choose, game):
    empty = [square for square in game.layout if game.content(square) is None]
    piece = Piece(choose.choice(list(Colour)), choose.choice(list(game.in_hand(game.to_move))))
    move = Move(choose.choice(empty), piece.kind, piece.colour, ruled=True)
    return _placed(choose, game, game.play(move), move)


def _placed(choose, before, after, move):
    ply = len(before.history) + 1
    told = [
        events.MovePlayed(
            time=ply / 8, ply=ply, colour=move.colour, move=move.plain, score=after.score, ruled=move.ruled
        )
    ]
    told += [
        events.PassForced(time=ply / 8, ply=at, colour=entry.colour)
        for at, entry in enumerate(after.history[ply:], start=ply + 1)
    ]
    return after, told


def _take_back(choose, game):
    plies = [ply for ply, entry in enumerate(game.history, start=1) if isinstance(entry, Move)]
    if not plies:
        return game, []
    taken = game.history[plies[-1] - 1]
    return game.after(plies[-1] - 1), [events.MoveTakenBack(time=1.0, ply=plies[-1], move=taken.plain)]


def _correct(choose, game):
    """The last move was another one."""
    without, taken = _take_back(choose, game)
    if not taken:
        return game, []
    ply = taken[0].ply
    other, _ = _play(choose, without)
    before, after = (tuple(map(str, g.history[ply - 1 :])) for g in (game, other))
    return other, [events.Corrected(time=1.0, ply=ply, before=before, after=after)]
