"""Watches shows as the program does, and judges what it said against the truth."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from itertools import takewhile

from companion import events
from companion.commands.eyes import board_reader, card_reader
from companion.commands.options import GREEN_BOX
from companion.readings import BoardReading
from companion.referee import Referee
from companion.rules import Layout, Move, Square
from companion.settling import Settler
from companion.vision.follow import BoardFollower
from companion.vision.piles import PileWatcher
from companion.vision.pose import BoardPose
from companion.vision.reader import BoardReader
from companion.vision.video import VideoReader
from tests.bench.stress.acts import AT_ONCE, BETWEEN, WITH_MOVE
from tests.bench.stress.eye import Errors, readings
from tests.bench.stress.look import STANDARD
from tests.bench.stress.shows import (
    Show,
    banded_game,
    clip,
    disturbed_game,
    green_box,
    held_game,
    hunting_game,
    quiet_stretch,
    swaying_game,
)

NAMES = [*WITH_MOVE, *BETWEEN, *AT_ONCE]
"""Of the clips, in the order of their numbers."""
QUESTIONS = (events.PieceUnclear, events.KindNeeded, events.ChoiceNeeded)


@dataclass
class Verdict:
    """What became of one show."""

    seed: int
    kind: str
    """``game``, ``swaying``, ``hunting``, ``banded``, ``held``, ``clip``, ``imagined``, ``box`` or ``quiet``."""
    size: tuple[int, int]
    fps: int
    family: str
    seconds: float
    """Of video."""
    cost_s: float
    """Of one core."""
    outcome: str = ""
    """exact, asked, stuck, wrong; quiet, false."""
    wrong: list[str] = field(default_factory=list)
    """Commits of what did not lie there, or out of turn, with their times and the disturbance before."""
    asked: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    """Illegal placements and disturbances that people were told of."""
    delays: list[tuple[str, float]] = field(default_factory=list)
    """From hand off the board to the move committed, in seconds of video, and the disturbance of the move."""
    acts: list[str] = field(default_factory=list)
    blame: str = ""
    """The disturbance before the first trouble."""
    unseen_s: float = 0.0
    """For how long the board was not found."""
    kinds: int = 0
    """Of the Green Box: how often it was asked which kind a cube is, and answered rightly."""
    due: int = 0
    """So many of these had to be: the player had laid that card for the cube before, too."""

    def row(self) -> dict[str, object]:
        """As JSON wants it."""
        return asdict(self)


def eyes(layout: Layout = STANDARD) -> BoardReader:
    """The reader that the program has; costly, so made once."""
    return board_reader(layout)


GAMES = {
    "game": disturbed_game,
    "swaying": swaying_game,
    "hunting": hunting_game,
    "banded": banded_game,
    "held": held_game,
}
"""How whole games of each kind are shown, by their number."""


def watch_game(seed: int, reader: BoardReader, kind: str = "game") -> Verdict:
    """A whole game of one of the kinds of `GAMES`."""
    return judge_game(seed, GAMES[kind](seed), reader, kind)


def watch_box(seed: int, reader: BoardReader) -> Verdict:
    """A whole game of the Green Box; whoever is asked which kind a cube is knows it."""
    show = green_box(seed)
    began = time.process_time()
    cubes = replace(reader, cubes=True)
    video = VideoReader(
        cubes, BoardFollower(show.look.layout, find=reader.locate), PileWatcher(card_reader(None), show.look.layout)
    )
    readings = (video.read(frame.time, frame.image) for frame in show.frames())
    heard, referee = _told(show, readings, variant=GREEN_BOX)
    about_kinds = [e for e in heard if isinstance(e, events.KindNeeded)]
    verdict = _judged(seed, show, began, ([e for e in heard if e not in about_kinds], referee), 0.0, "box")
    verdict.kinds, verdict.due = len(about_kinds), sum(_is_due(show, event) for event in about_kinds)
    verdict.told += [_line(show, event) for event in about_kinds if not _is_due(show, event)]
    return verdict


def _is_due(show: Show, asked: events.KindNeeded) -> bool:
    """Whether the cube asked about is of the kind that its player had played before."""
    moves = show.end.moves
    own = next((move for move in moves if move.square == asked.square), None)
    if own is None:
        return False
    before = [move for move in moves[: moves.index(own)] if move.colour is own.colour]
    return bool(before) and before[-1].kind is own.kind


def watch_clip(seed: int, reader: BoardReader) -> Verdict:
    """One disturbance and a move, or what happens with two."""
    return judge_game(seed, clip(NAMES[seed % len(NAMES)], seed), reader, "clip")


def imagine_game(seed: int, errors: Errors) -> Verdict:
    """A whole game without pixels."""
    show = disturbed_game(seed)
    began = time.process_time()
    return _judged(seed, show, began, _told(show, readings(show, errors, seed)), 0.0, "imagined")


def watch_quiet(seed: int, minutes: float, reader: BoardReader) -> Verdict:
    """Some minutes in which nobody moves: every move told of is false."""
    show = quiet_stretch(seed, minutes)
    began = time.process_time()
    heard, _, unseen_s = _heard(show, reader)
    verdict = _verdict("quiet", seed, show, began, heard, unseen_s)
    moves = [e for e in heard if isinstance(e, events.MovePlayed | events.MoveTakenBack | events.GameOver)]
    verdict.wrong = [_line(show, event) for event in moves]
    verdict.outcome = "false" if moves else "quiet"
    verdict.blame = _first_blame(show, moves)
    return verdict


def judge_game(
    seed: int, show: Show, reader: BoardReader, kind: str = "game", *, pose: BoardPose | None = None
) -> Verdict:
    """Any show that is a game; `pose`, if given, is where the board is in its first frame."""
    began = time.process_time()
    heard, referee, unseen_s = _heard(show, reader, pose)
    return _judged(seed, show, began, (heard, referee), unseen_s, kind)


def _judged(seed: int, show: Show, began: float, told, unseen_s: float, kind: str) -> Verdict:
    heard, referee = told
    verdict = _verdict(kind, seed, show, began, heard, unseen_s)
    played = [e for e in heard if isinstance(e, events.MovePlayed)]
    bad = [e for e in played if not _lay_there(show, e) or not (_is_in_its_turn(show, e) or _is_given_up(e, heard))]
    verdict.wrong = [_line(show, event) for event in bad]
    asked = [e for e in heard if isinstance(e, QUESTIONS)]
    exact = [str(ply) for ply in referee.game.history] == [str(ply) for ply in show.end.history]
    if not exact and not asked and _is_other_game(show, referee, heard):
        verdict.wrong = verdict.wrong or [f"ends as {' '.join(map(str, referee.game.history))}"]
    verdict.outcome = "wrong" if verdict.wrong else "asked" if asked else "exact" if exact else "stuck"
    trouble = bad or asked or [e for e in heard if isinstance(e, events.Unresolved)]
    verdict.blame = "" if verdict.outcome == "exact" else _first_blame(show, trouble)
    verdict.delays = _delays(show, heard)
    return verdict


def _is_other_game(show: Show, referee: Referee, heard: list[events.Event]) -> bool:
    """Whether what is committed is no beginning of the game, and nothing is told to be amiss."""
    committed, true = referee.game.history, show.end.history
    same = sum(1 for _ in takewhile(lambda plies: str(plies[0]) == str(plies[1]), zip(committed, true, strict=False)))
    if same == len(committed):
        return False
    differ = {ply.square for ply in (*committed[same : same + 1], *true[same : same + 1]) if isinstance(ply, Move)}
    named = {square for event in heard if isinstance(event, events.Unresolved) for square in event.squares}
    return not referee.problems and not referee.disturbed and not differ & named


def _heard(show: Show, reader: BoardReader, pose: BoardPose | None = None) -> tuple[list[events.Event], Referee, float]:
    video, unseen = VideoReader(reader, BoardFollower(reader.layout, pose=pose, find=reader.locate)), []

    def seen() -> Iterator[BoardReading]:
        for frame in show.frames():
            yield video.read(frame.time, frame.image)
            unseen.append(bool(video.why_not))

    heard, referee = _told(show, seen())
    return heard, referee, sum(unseen) * show.stage.step_s


def _told(show: Show, seen: Iterable[BoardReading], variant: str = "standard") -> tuple[list[events.Event], Referee]:
    settler, referee = Settler(show.look.layout), Referee(show.start, variant=variant)
    heard = referee.start(0.0)
    for reading in seen:
        said = referee.see(settler.feed(reading))
        for event in said:  # an answer may lead to the next question
            if variant == GREEN_BOX and isinstance(event, events.KindNeeded):
                said += _answered(show, referee, event)
        heard += said
    return [*heard, *referee.finish(show.stage.time)], referee


def _answered(show: Show, referee: Referee, asked: events.KindNeeded) -> list[events.Event]:
    there = show.stage.content(asked.square, asked.time)
    return referee.answer(asked.time, asked.square, there) if there else []


def _verdict(kind: str, seed: int, show: Show, began: float, heard, unseen_s: float) -> Verdict:
    return Verdict(
        seed=seed,
        kind=kind,
        size=show.look.size,
        fps=show.look.fps,
        family=show.look.pieces.family.value,
        seconds=round(show.stage.time, 1),
        cost_s=round(time.process_time() - began, 1),
        asked=[_line(show, e) for e in heard if isinstance(e, QUESTIONS)],
        told=[_line(show, e) for e in heard if isinstance(e, TOLD)],
        acts=[name for _, name in show.stage.acts],
        unseen_s=round(unseen_s, 1),
    )


TOLD = (events.IllegalPlacement, events.BoardDisturbed, events.MoveTakenBack, events.Unresolved)


def _lay_there(show: Show, event: events.MovePlayed) -> bool:
    """Whether the piece that is said to have been played lay there at that time."""
    move = event.move
    there = show.stage.content(Square.parse(str(move)[:2]), event.time)
    return there is not None and str(there.colour) == str(event.colour) and str(move).endswith(there.kind.mark)


def _is_in_its_turn(show: Show, event: events.MovePlayed) -> bool:
    """Whether a move that belongs to the game was played where it belongs in it."""
    plies = [str(ply) for ply in show.end.history]
    return str(event.move) not in plies or plies[event.ply - 1 : event.ply] == [str(event.move)]


def _is_given_up(played: events.MovePlayed, heard: list[events.Event]) -> bool:
    """Whether it was told later that the piece is gone: people may take it back, and play it later."""
    gone = [e for e in heard if isinstance(e, events.BoardDisturbed) and e.time > played.time]
    undone = [e for e in heard if isinstance(e, events.MoveTakenBack) and (e.ply, e.move) == (played.ply, played.move)]
    return bool(undone) or any(str(square) == str(played.move)[:2] for event in gone for square in event.squares)


def _delays(show: Show, heard) -> list[tuple[str, float]]:
    committed = {str(e.move): e.time for e in heard if isinstance(e, events.MovePlayed)}
    return [
        (played.after, round(committed[str(played.move)] - played.off, 3))
        for played in show.stage.played
        if str(played.move) in committed and played.off is not None
    ]


def _line(show: Show, event: events.Event) -> str:
    words = [type(event).__name__]
    for name in ("square", "squares", "move", "reason", "question"):
        value = getattr(event, name, None)
        if value not in (None, ()):
            words.append(" ".join(map(str, value)) if name == "squares" else str(value))
    words += ["/".join(map(str, getattr(event, name))) for name in ("contents", "choices") if getattr(event, name, ())]
    return f"{event.time:.2f} {' '.join(words)} (after {show.stage.disturbance_at(event.time)})"


def _first_blame(show: Show, trouble) -> str:
    return show.stage.disturbance_at(trouble[0].time) if trouble else show.stage.disturbance_at(show.stage.time)
