"""One game in play: its sources are read, refereed and logged, and everyone else is shown an immutable view.

Theory of operation. One named thread owns a table: it alone looks at the board and changes the game. What people decide
comes to it through an inbox, as deeds; what it knows leaves as a `TableView`, a frozen value with a revision. Whoever
follows a table keeps the revision that he has seen and waits for a newer one: a slow viewer skips revisions, and never
backs anything up. Events are given to the recorder before a view shows what they did.

A program without a page steps the table by itself, with `start` and `step`, and needs no thread.
"""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, Self

from companion import events
from companion.errors import CompanionError, EndOfSource, TableError
from companion.readings import LOST_S, READ_S, is_picture
from companion.saying import Saying
from companion.senses import Senses

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from companion.events import ChoiceNeeded, Event
    from companion.fusion import Disagreement
    from companion.readings import Snapshot, Source
    from companion.referee import Problem, Referee
    from companion.rules import Colour, Game, Square, Variant
    from companion.senses import Glimpse
    from companion.store.records import Opening

    Deed = Callable[[Referee, float], list[Event]]
    """What a person does to the game; it is called on the table's thread, with the source's time."""

logger = logging.getLogger(__name__)

PICTURE_S = 1.0
"""A new picture alone is shown no more often than this, in source seconds."""
RETRY_S = 5.0
"""What could not be recorded is tried again so often, by the steady clock: a source may be lost, or have ended."""
JOIN_S = 10.0
"""How long closing waits for the thread."""


@dataclass(frozen=True, slots=True)
class Players:
    """Who plays; empty where nobody said."""

    light: str = ""
    dark: str = ""


class Recorder(Protocol):
    """Where events are kept before anyone is shown them. It belongs to the table's thread."""

    opening: Opening
    """How the next match begins, as far as its first event does not tell: its players above all."""

    @property
    def trouble(self) -> CompanionError | None:
        """Why something is not on disk yet; None when everything is."""
        ...

    @property
    def lost(self) -> CompanionError | None:
        """Why something will never be on disk; None while everything may be."""
        ...

    @property
    def filed(self) -> tuple[int, str] | None:
        """The number and the final hash of a match that has ended, where they are kept."""
        ...

    def record(self, told: Sequence[Event], evidence: bytes = b"") -> None:
        """Keep events, in order, with the picture that decided them. What cannot be written now is kept for later."""
        ...

    def flush(self) -> bool:
        """Try to write what is waiting. Whether all is on disk."""
        ...


@dataclass(frozen=True, slots=True)
class Picture:
    """The board as the source sees it."""

    number: int
    """Counts the pictures of a table, from 1."""
    jpeg: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class TableView:
    """Everything there is to show of a table at one moment."""

    table: str
    revision: int
    """Higher than that of every earlier view of this table, since the program started."""
    match: str
    """Which match this is: another name for every one, and when the program was started again."""
    game: Game
    variant: Variant
    players: Players
    paused: bool
    resigned: Colour | None
    problems: tuple[Problem, ...]
    disturbed: frozenset[Square]
    to_lift: frozenset[Square]
    """The squares whose piece has to leave the board before the game goes on, or the next one begins."""
    cleared: bool
    """The match is over and the board was cleared since: the next one begins with its first piece."""
    unseen: frozenset[Square]
    """The squares that something has covered since the program looks: nothing is decided before all were seen once."""
    unread: frozenset[Square]
    """The squares in the open of which nothing could be told yet: nothing is decided before."""
    out_of_sight: frozenset[Square]
    """The squares that were not seen at rest for long: what is played there is not told yet."""
    question: ChoiceNeeded | None
    source: str
    """What it was opened by; several are joined by ``+``."""
    lost: str
    """Why no source delivers anything; empty while one does."""
    trouble: str
    """Why nothing can be read though one delivers, such as a board not found; empty if all is well."""
    absent: tuple[tuple[str, str], ...]
    """The sources that are of no use while another is, each with the reason."""
    disagreements: tuple[Disagreement, ...]
    """What the sources contradict each other about, and no person has settled."""
    recorded: bool
    """The sources are files: nobody can touch the board."""
    ended: bool
    """The sources were files and have been read to their end, or are not looked at any more."""
    unrecorded: str
    """Why events are not on disk; empty when they are."""
    never_recorded: str
    """Why events of this run will never be on disk; empty while all may be."""
    filed: tuple[int, str] | None
    """The number and the final hash that the match is kept with; None before it has ended, or where it is not kept."""
    broken: str
    """Why the table has stopped for good; empty while it runs."""
    picture: Picture | None

    @property
    def over(self) -> bool:
        """Whether the match has ended, by the rules or by resigning."""
        return self.game.outcome is not None or self.resigned is not None

    @property
    def winner(self) -> Colour | None:
        """Who has won; None for a draw, and while the match goes on."""
        if self.resigned is not None:
            return self.resigned.other
        return self.game.outcome.winner if self.game.outcome else None


class Lamp(Protocol):
    """Shows at the board itself what is going on, as the LEDs of a tile board do."""

    def show(self, view: TableView) -> None:
        """Show `view`. Called on the table's thread with every new view, so it must not wait."""
        ...


class Table:
    """The sources of a board, the referee of its game, and the log.

    >>> table = Table(source, referee, recorder, clock=time.monotonic)                  # doctest: +SKIP
    >>> with table.running():                                                           # doctest: +SKIP
    ...     table.do(lambda referee, time: referee.undo(time))
    ...     newer = table.wait_newer(table.view.revision, timeout_s=15)
    """

    def __init__(
        self,
        source: Source,
        referee: Referee,
        recorder: Recorder,
        *,
        clock: Callable[[], float],
        others: Sequence[Source] = (),
        lamps: Sequence[Lamp] = (),
    ) -> None:
        """The sources of one board, of which `others` are those that go by the first one's clock (`companion.fusion`).

        `clock` gives monotonic seconds, whatever becomes of the sources.
        """
        self.id = referee.table
        game = referee.game
        self.senses = Senses((source, *others), game.layout, sets=game.sets, lies_turned=referee.lies_turned)
        self.referee = referee
        self.ended = False
        """The sources are files and have been read to their end, or are not looked at any more."""
        self._recorder = recorder
        self._clock = clock
        self._lamps = tuple(lamps)
        self._time = 0.0
        self._broken = ""
        self._evidence = b""
        self._picture: Picture | None = None
        self._pictures = 0
        self._pictured = float("-inf")
        self._tried = float("-inf")
        self._inbox: queue.SimpleQueue[tuple[Deed, Future[TableView]] | None] = queue.SimpleQueue()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._showing = threading.Lock()
        self._bells: set[threading.Lock] = set()
        """One for everyone who waits: a locked lock, which a new view unlocks. A condition would wake the waiting one
        after the other, which hundreds of viewers notice."""
        self._view = self._look(revision=0)

    # For everyone -------------------------------------------------------------------------------------------------

    @property
    def view(self) -> TableView:
        """The latest view."""
        return self._view

    @property
    def alive(self) -> bool:
        """Whether its thread runs: after `close` only if its source hangs."""
        return self._thread is not None and self._thread.is_alive()

    def wait_newer(self, revision: int, timeout_s: float) -> TableView:
        """The latest view, as soon as its revision is not `revision`, or after `timeout_s`."""
        bell = threading.Lock()
        bell.acquire()
        with self._showing:
            if self._view.revision != revision:
                return self._view
            self._bells.add(bell)
        if not bell.acquire(timeout=timeout_s):
            with self._showing:
                self._bells.discard(bell)
        return self._view

    def wake(self) -> None:
        """End everyone's waiting, as if the time were up: the server closes."""
        with self._showing:
            bells, self._bells = self._bells, set()
        for bell in bells:
            bell.release()

    def post(self, deed: Deed) -> Future[TableView]:
        """Have the table's thread do something to the game; the view that shows it comes later.

        The future raises what the referee raises (`RulesError`), or `TableError` if the table has stopped.
        """
        promise: Future[TableView] = Future()
        self._inbox.put((deed, promise))
        if self._stop.is_set() or self._broken:
            self._refuse_waiting()
        return promise

    def do(self, deed: Deed, timeout_s: float = 5.0) -> TableView:
        """As `post`, and wait for the view.

        Raises:
            RulesError: if the game cannot do that.
            TableError: if the table has stopped, or does not answer in time.
        """
        promise = self.post(deed)
        try:
            return promise.result(timeout_s)
        except TimeoutError as error:
            promise.cancel()
            told = Saying(
                "table %(table)s does not answer; its source %(source)s may hang",
                table=self.id,
                source=self.senses.name,
            )
            raise TableError(told) from error

    def new_match(self, game: Game, players: Players) -> Deed:
        """The deed that begins another match with these players; the one in play is left as it is.

        Of another layout, or with other sets of pieces, the source is told; the deed raises `RulesError` if it cannot
        read that.
        """

        def begin(referee: Referee, time: float) -> list[Event]:
            if (game.layout, game.sets) != (referee.game.layout, referee.game.sets):
                self._lay_out(game)
            told = replace(self._recorder.opening, layout=str(game.layout), sets=game.sets)
            self._recorder.opening = replace(told, light=players.light, dark=players.dark)
            return referee.new_match(time, game)

        return begin

    def _lay_out(self, game: Game) -> None:
        """Look at another board, and at nothing that was seen of the one before."""
        self.senses.lay_out(game.layout, game.sets)
        self._evidence, self._picture = b"", None

    # The thread ---------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def running(self) -> Iterator[Self]:
        """Run the table's thread for as long as the context lasts."""
        self.open()
        try:
            yield self
        finally:
            self.close()

    def open(self) -> Self:
        """Start the table's thread."""
        self._thread = threading.Thread(target=self._run, name=f"table-{self.id}", daemon=True)
        self._thread.start()
        return self

    def close(self) -> None:
        """Stop the thread, within `JOIN_S` seconds, write what is not recorded yet, and let go of the source.

        Raises:
            TableError: if it still cannot be written, so that it is lost, or something was lost before.
        """
        self._stop.set()
        self._inbox.put(None)
        if self._thread is not None:
            self._thread.join(JOIN_S)
            if self.alive:
                logger.error("table %s does not stop: its source %s hangs", self.id, self.senses.name)
                return
        self._refuse_waiting()
        if self._recorder.trouble:
            self._flush()
        self.senses.close()
        if trouble := self._recorder.trouble or self._recorder.lost:
            raise TableError(f"the match at table {self.id} is not recorded to its end: {trouble}")

    def _run(self) -> None:
        try:
            self.start()
            while not self._stop.is_set():
                self._serve()
                self.step(READ_S)
        except Exception as error:
            is_bug = not isinstance(error, CompanionError)
            self._broken = (error.saying if isinstance(error, CompanionError) else str(error)) or type(error).__name__
            logger.exception("table %s has stopped: %s", self.id, self._broken, exc_info=is_bug)
            self._publish()
            self._refuse_waiting()

    def _serve(self) -> None:
        """Do what is in the inbox; wait a moment for it where there is nothing else to do."""
        idle_s = READ_S if self.ended else LOST_S if self.senses.lost else 0.0
        with contextlib.suppress(queue.Empty):
            while (posted := self._inbox.get(block=idle_s > 0, timeout=idle_s or None)) is not None:
                self._answer(*posted)
                idle_s = 0.0

    def _answer(self, deed: Deed, promise: Future[TableView]) -> None:
        if not promise.set_running_or_notify_cancel():
            return
        try:
            told = deed(self.referee, self._time)
        except CompanionError as refusal:
            promise.set_exception(refusal)
            return
        except Exception as fault:
            promise.set_exception(
                TableError(Saying("table %(table)s has stopped: %(why)s", table=self.id, why=str(fault)))
            )
            raise
        self._tell(told, self._evidence)
        promise.set_result(self._view)

    def _refuse_waiting(self) -> None:
        with contextlib.suppress(queue.Empty):
            while True:
                posted = self._inbox.get_nowait()
                if posted is not None and posted[1].set_running_or_notify_cancel():
                    told = Saying("table %(table)s has stopped; start the program again", table=self.id)
                    posted[1].set_exception(TableError(told))

    # Stepping -----------------------------------------------------------------------------------------------------

    def start(self) -> list[Event]:
        """Announce the match."""
        told = self._tell(self.referee.start(self._time))
        self._light()
        return told

    def step(self, timeout_s: float) -> list[Event]:
        """Look once, and answer with what that decides; empty when there was nothing to see, as after the end.

        What could not be recorded is tried again when it is time.
        """
        if self._recorder.trouble and self._clock() - self._tried >= RETRY_S:
            self._flush()
        if self.ended:
            return []
        try:
            glimpse = self.senses.look(timeout_s)
        except EndOfSource:
            return self.finish()
        if glimpse is None:
            return []
        if glimpse.snapshot is None:
            return self._tell(list(self._told_of_sources(glimpse)))
        self._time = glimpse.snapshot.time
        self._evidence = glimpse.snapshot.evidence
        told = [*self._told_of_sources(glimpse), *self._seen(glimpse.snapshot)]
        return self._tell(told, self._evidence)

    def finish(self) -> list[Event]:
        """Look no more, as after the last reading of a file, and answer with what was never resolved."""
        self.ended = True
        return self._tell(self.referee.finish(self._time))

    def _seen(self, snapshot: Snapshot) -> list[Event]:
        """What the referee makes of a snapshot; who played a match that was recalled need not play the next one."""
        recalled = self.referee.recalls
        told = self.referee.see(snapshot)
        if recalled and any(isinstance(event, events.MatchStarted) for event in told):
            self._recorder.opening = replace(self._recorder.opening, light="", dark="")
        return told

    def _tell(self, told: list[Event], evidence: bytes = b"") -> list[Event]:
        """Record events, then show what they did."""
        if told:
            self._recorder.record(told, evidence)
            self._tried = self._clock()
        self._publish()
        return told

    def _flush(self) -> None:
        """Try to write what could not be recorded."""
        self._recorder.flush()
        self._tried = self._clock()
        self._publish()

    def _told_of_sources(self, glimpse: Glimpse) -> Iterator[Event]:
        if glimpse.lost:
            yield events.SourceLost(**self._here(), source=glimpse.source, why=glimpse.lost)
        if glimpse.back:
            yield events.SourceBack(**self._here(), source=glimpse.source)
        for told in glimpse.disagreements:
            yield events.SourcesDisagree(**self._here(), square=told.square, contents=told.contents, words=str(told))

    def _here(self) -> dict[str, Any]:
        return {"time": self._time, "table": self.referee.table, "ply": len(self.referee.game.history) + 1}

    # Showing ------------------------------------------------------------------------------------------------------

    def _publish(self) -> None:
        """Show what there is now, unless it is what is shown already."""
        shown = self._view
        view = self._look(revision=shown.revision)
        fresh = is_picture(self._evidence) and (self._picture is None or self._evidence != self._picture.jpeg)
        if fresh and (view != shown or self._time - self._pictured >= PICTURE_S):
            self._pictured = self._time
            self._pictures += 1
            self._picture = Picture(self._pictures, self._evidence)
            view = replace(view, picture=self._picture)
        if view != shown:
            with self._showing:
                self._view = replace(view, revision=shown.revision + 1)
            self.wake()
            self._light()

    def _light(self) -> None:
        for lamp in self._lamps:
            lamp.show(self._view)

    def _look(self, *, revision: int) -> TableView:
        referee, opening = self.referee, self._recorder.opening
        return TableView(
            table=self.id,
            revision=revision,
            match=referee.match,
            game=referee.game,
            variant=referee.variant,
            players=Players(opening.light, opening.dark),
            paused=referee.paused,
            resigned=referee.resigned,
            problems=referee.problems,
            disturbed=referee.disturbed,
            to_lift=referee.to_lift,
            cleared=referee.cleared,
            unseen=referee.unseen,
            unread=referee.unread,
            out_of_sight=referee.out_of_sight,
            question=referee.question,
            source=self.senses.name,
            lost=self.senses.lost,
            trouble=self.senses.trouble,
            absent=self.senses.absent,
            disagreements=tuple(told for told in self.senses.disagreements if told.square not in referee.said),
            recorded=self.senses.recorded,
            ended=self.ended,
            unrecorded=self._recorder.trouble.saying if self._recorder.trouble else "",
            never_recorded=self._recorder.lost.saying if self._recorder.lost else "",
            filed=self._recorder.filed,
            broken=self._broken,
            picture=self._picture,
        )
