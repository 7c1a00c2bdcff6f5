"""From a match's events to its game, and from a game to the events that would have told it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from companion.errors import RulesError, StoreError
from companion.events import (
    Corrected,
    Event,
    GameOver,
    LastChance,
    MatchStarted,
    MovePlayed,
    MoveTakenBack,
    PassForced,
    Paused,
    Resigned,
)
from companion.rules import Colour, Game, MatchText, Move, Pass, Position, parse_move
from companion.rules.matchtext import DRAW

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from companion.rules import Piece, Ply


def game_told_by(events: Iterable[Event], start: Game) -> Game:
    """The game that `events` tell, from `start` on.

    Only plays, takebacks and corrections count: passes follow from the rules, and all else changed nothing.

    Raises:
        StoreError: for the first event that does not fit the game before it.

    """
    game = start
    for _, after in _steps(events, start):
        game = after
    return game


def _steps(events: Iterable[Event], start: Game) -> Iterator[tuple[Event, Game]]:
    """Each event, and the game after it."""
    game = start
    for number, event in enumerate(events, start=1):
        try:
            game = _after(game, event)
        except (RulesError, ValueError) as error:
            raise StoreError(f"event {number} ({type(event).__name__}) does not follow: {error}") from error
        yield event, game


def ending_of(events: Iterable[Event]) -> dict[str, str]:
    """How a match ended, as the tags Termination and Winner of its match text."""
    resigned, tags = False, {"Termination": "abandoned"}
    for event in events:
        match event:
            case Resigned():
                resigned = True
            case GameOver(winner=winner) if resigned:
                tags = {"Termination": "resigned", "Winner": str(winner or DRAW)}
            case GameOver():
                tags = {"Termination": "normal"}
            case Corrected(position="") if resigned and not event.takes_up_again:
                tags = {"Termination": "abandoned"}
            case MovePlayed() | MoveTakenBack() | Corrected():
                resigned, tags = False, {"Termination": "abandoned"}
    return tags


def resigned_by(events: Iterable[Event]) -> Colour | None:
    """Who has ended a match by resigning; None if nobody has, or it is not told."""
    winner = ending_of(events).get("Winner", DRAW)
    return None if winner == DRAW else Colour(winner).other


def paused_by(events: Iterable[Event]) -> bool:
    """Whether a match is paused at the end of its `events`; older versions did not tell."""
    told = [event.paused for event in events if isinstance(event, Paused)]
    return bool(told) and told[-1]


def undone_by(events: Iterable[Event], start: Game) -> list[Move]:
    """The moves that were taken back since the last one was played, with the colours that they had.

    Before one that was corrected stands what it was, if that was on the same square: it is what was read there.

    Raises:
        StoreError: as `game_told_by`.

    """
    undone: list[Move] = []
    corrected: list[Move] = []
    before = start
    for event, after in _steps(events, start):
        moves = [ply for ply in before.history[event.ply - 1 :] if isinstance(ply, Move)]
        if isinstance(event, MovePlayed):
            undone = []
        elif isinstance(event, Corrected):
            corrected += (move for move in moves if move not in after.moves)
        elif isinstance(event, MoveTakenBack):
            undone += (old for old in corrected if old.square == moves[0].square)
            undone += moves[:1]
        before = after
    return undone


def pieces_told(events: Iterable[Event], start: Game) -> set[Piece]:
    """What the moves of a match are, and have been said to be before they were corrected or taken back.

    Raises:
        StoreError: as `game_told_by`.

    """
    return {move.piece for _, after in _steps(events, start) for move in after.moves}


def events_telling(text: MatchText, *, table: str) -> Iterator[Event]:
    """The events of a match that went as `text` tells. Nobody watched it, so all source times are 0."""
    game, told = text.game, text.game.beginning
    yield MatchStarted(time=0.0, table=table, ply=1, first=game.first, layout=str(game.layout), variant=text.variant)
    if game.joined is not None:
        yield Corrected(time=0.0, table=table, ply=1, before=(), after=(), position=game.joined.write(game.layout))
    for ply, entry in enumerate(game.history, start=1):
        if isinstance(entry, Pass):
            assert entry.colour is not None  # a game knows who passed
            yield PassForced(time=0.0, table=table, ply=ply, colour=entry.colour)
            continue
        told = told.play(entry)
        yield _move_played(entry, told, table, ply)
        if told.last_chance and told.to_move is not None:
            legal = tuple(sorted(told.legal_squares()))
            yield LastChance(time=0.0, table=table, ply=len(told.history) + 1, colour=told.to_move, legal=legal)
    if text.resigned and text.winner:
        yield Resigned(time=0.0, table=table, ply=len(game.history) + 1, colour=text.winner.other)
    if game.outcome or text.resigned:
        yield _game_over(text, table)


def _move_played(move: Move, told: Game, table: str, ply: int) -> MovePlayed:
    return MovePlayed(
        time=0.0,
        table=table,
        ply=ply,
        colour=move.piece.colour,
        move=move.plain,
        score=told.score.plain,
        ruled=move.ruled,
    )


def _game_over(text: MatchText, table: str) -> GameOver:
    return GameOver(
        time=0.0,
        table=table,
        ply=len(text.game.history),
        moves=tuple(map(str, text.game.history)),
        score=text.game.score.plain,
        winner=text.winner,
    )


def _after(game: Game, event: Event) -> Game:
    match event:
        case MovePlayed():
            return game.play(event.move, colour=event.colour, ruled=event.ruled)
        case MoveTakenBack():
            taken = game.history[event.ply - 1 : event.ply]
            if not taken or not _same_place(taken[0], parse_move(event.move)):
                raise ValueError(f"ply {event.ply} is not {event.move}, so it cannot have been taken back")
            return game.after(event.ply - 1)
        case Corrected(position=position) if position:
            return game.joined_at(Position.read(position, game.layout))
        case Corrected():
            kept = len(game.history) - len(event.before)
            tail = tuple(map(str, game.history[max(kept, 0) :]))
            if kept < 0 or tail != event.before:
                raise ValueError(f"the game ends in {' '.join(tail)}, not in {' '.join(event.before)}")
            return game.retold((*game.history[:kept], *event.after))
    return game


def _same_place(one: Ply, other: Ply) -> bool:
    return isinstance(one, Move) and isinstance(other, Move) and (one.square, one.kind) == (other.square, other.kind)
