"""How a table is taken up again: what the log and the board together make of the match before. Where the page is."""

from __future__ import annotations

import contextlib
import socket
import stat
import time
from datetime import UTC, datetime

import click
import pytest

from companion.commands.equipment import Equipment, equip
from companion.commands.serving import Keys, own_addresses, serve, table_for
from companion.errors import ServerError, StoreError
from companion.rules import Colour, Game, Layout, Piece, Square
from companion.script import Pace, ScriptedSource, moves_by_hand
from companion.store import MatchLog
from companion.table import Players
from companion.web import Gate, create_app
from companion.web.serve import Serving
from tests.shelf import only_read
from tests.web.room import SOON_S, BoardByHand, Room

WORKED_EXAMPLE = [
    *("a1+", "a3><", "a2+", "a4<>", "b2><", "c2+", "c3<>"),
    *("c1x", "d2><", "d3+", "d4x", "b4x", "b3<>", "b1<>"),
]


@pytest.fixture
def log(tmp_path):
    with MatchLog.open(tmp_path, lambda: datetime.now(UTC)) as log:
        yield log


class Program(Room):
    """A program that is started on a log; leaving it kills it, and the pieces stay where they are."""

    def __init__(self, log: MatchLog, before: Room | None = None, *, game=None, variant="standard", **told) -> None:
        game = game or Game.start()
        self.board = BoardByHand(game)
        self.table = table_for(Equipment((self.board,)), game, log, table="1", variant=variant, **told)
        if before is not None:  # now, for the board that lies there may be another than `game`'s
            self.board.scene.pieces = dict(before.board.scene.pieces)

    def __enter__(self):
        self.table.open()
        return self

    def __exit__(self, *exception):
        self.table.close()


def test_a_match_of_another_variant_is_not_taken_up_with_the_wrong_eyes(log):
    with Program(log) as first:
        first.play("a1+")
    with pytest.raises(click.UsageError, match="table 1 is standard: start with --variant standard"):
        table_for(Equipment((first.board,)), Game.start(), log, table="1", variant="green-box")


def history(room) -> list[str]:
    return [str(ply) for ply in room.view.game.history if str(ply) != "-"]


def test_match_that_was_over_when_the_program_died_shows_its_result_and_is_cleared_up(log):
    with Program(log) as first:
        first.table.do(first.table.new_match(Game.start(), Players("Ann", "Ben")))
        first.look()
        first.play(*WORKED_EXAMPLE)
        assert first.view.over
    with Program(log, first) as second:
        assert second.view.over
        view = second.look()
        assert (view.over, view.winner, view.players.light, view.question) == (True, Colour.LIGHT, "Ann", None)
        assert history(second) == WORKED_EXAMPLE
        second.board.scene.pieces.clear()
        assert second.look().over
        second.put("d4", "light diagonal")
        second.look()
        assert (history(second), second.view.players) == (["d4x"], Players("Ann", "Ben"))
    ended, fresh = log.matches("1")[1:]
    assert (ended.finished, fresh.finished, fresh.plies) == (True, False, 1)
    assert log.verify(ended.id).sound


def test_board_that_is_empty_at_the_start_begins_a_match_of_nobody(log):
    with Program(log) as first:
        first.table.do(first.table.new_match(Game.start(), Players("Ann", "Ben")))
        first.play("a1+")
        first.table.do(lambda referee, time: referee.resign(time, Colour.DARK))
    with Program(log) as second:
        assert second.view.resigned is Colour.DARK
        view = second.look()
        assert (view.over, view.players, view.game.history) == (False, Players(), ())
    assert [match.finished for match in log.matches("1")[1:]] == [True, False]


def test_end_that_is_undone_after_a_restart_goes_on_in_the_same_match(log):
    with Program(log) as first:
        first.play("a1+", "a3><")
        first.table.do(lambda referee, time: referee.resign(time, Colour.DARK))
    with Program(log, first) as second:
        second.look()
        second.table.do(lambda referee, time: referee.undo(time))
        assert not second.view.over
    [match] = log.matches("1")
    assert not match.finished
    assert [str(ply) for ply in log.game(match.id).history] == ["a1+", "a3><"]


def test_a_camera_is_told_how_many_sets_are_in_play_whatever_was_played_before_a_restart(log, monkeypatch):
    with Program(log, game=Game.start(sets=2)) as first:
        first.play("a1+", "a3><")
        first.table.do(lambda referee, time: referee.resign(time, Colour.DARK))
    with Program(log, first) as second:
        told = []
        monkeypatch.setattr(second.board, "lay_out", lambda layout, sets: told.append(sets))
        second.look()
        second.table.do(second.table.new_match(Game.start(sets=2), Players()))
        assert (second.view.game.sets, told) == (2, [2])


def pause(room: Room, *, paused: bool) -> None:
    room.table.do(lambda referee, time: referee.pause(time, paused=paused))


def test_a_trial_piece_that_lies_there_during_a_pause_is_no_move_after_a_restart_either(log):
    with Program(log) as first:
        first.play("a1+")
        pause(first, paused=True)
        first.put("a2", "dark pusher")
        first.look()
    with Program(log, first) as second:
        assert (second.look().paused, history(second)) == (True, ["a1+"])
        second.lift("a2")
        pause(second, paused=False)
        assert not second.play("a3><").paused
    with Program(log, second) as third:
        assert (third.look().paused, history(third)) == (False, ["a1+", "a3><"])
    [match] = log.matches("1")
    assert log.verify(match.id).sound
    assert log.match_text(match.id).game == log.game(match.id)


def test_a_match_that_was_paused_after_its_end_is_so_after_a_restart(log):
    with Program(log) as first:
        first.play("a1+")
        first.table.do(lambda referee, time: referee.resign(time, Colour.DARK))
        pause(first, paused=True)
    with Program(log, first) as second:
        second.board.scene.pieces.clear()
        second.put("d4", "light diagonal")
        view = second.look()
        assert (view.paused, view.over, history(second)) == (True, True, ["a1+"])
        second.lift("d4")
        pause(second, paused=False)
        second.look()
        second.put("d4", "light diagonal")
        second.look()
        assert history(second) == ["d4x"]
    assert [match.finished for match in log.matches("1")] == [True, False]


def test_interrupted_match_goes_on_on_the_board_that_was_chosen_for_it(log, capsys):
    ring = Layout.parse("ring")
    with Program(log) as first:
        first.table.do(first.table.new_match(Game.start("anywhere", layout=ring, sets=3), Players()))
        first.look()
        first.play("f6x")
    with Program(log, first) as second:
        assert second.board.scene.layout == ring
        second.board.scene.pieces = dict(first.board.scene.pieces)
        second.play("e5+")
        assert history(second) == ["f6x", "e5+"]
        assert (second.view.game.sets, second.view.game.first) == (3, "anywhere")
    assert "goes on, on its own board (layout ring, first anywhere, sets 3)" in capsys.readouterr().err


@contextlib.contextmanager
def started_on_tiles(log, game):
    """A table with the tile board that is not there, as the program has it when it starts; and that board."""
    with contextlib.ExitStack() as closing:
        equipment = equip(["virtual:tiles"], Layout.parse("4x4"), closing, clock=time.monotonic, patient=True)
        with table_for(equipment, game, log, table="1").running() as table:
            yield table, equipment.virtual


def wait_until(table, condition) -> None:
    until = time.monotonic() + SOON_S
    while not condition(view := table.view):
        assert time.monotonic() < until, view
        table.wait_newer(view.revision, timeout_s=SOON_S)


@pytest.mark.parametrize("layout", ["4x4", "ring"])
def test_pieces_of_an_interrupted_match_lie_on_the_pretended_tile_board_again(log, layout):
    game = Game.start("anywhere", layout=Layout.parse(layout)).play("b2+")
    with started_on_tiles(log, Game.start()) as (table, board):
        table.do(table.new_match(game.beginning, Players()))
        wait_until(table, lambda view: view.game == game.beginning and not view.lost)
        board.put(game.layout.squares.index(Square.parse("b2")), "S")
        wait_until(table, lambda view: view.game == game)
    with started_on_tiles(log, Game.start()) as (table, board):
        assert board.letters.replace(".", "") == "S"
        square = min(game.legal_squares())
        board.put(game.layout.squares.index(square), "d")
        wait_until(table, lambda view: len(view.game.moves) == 2)
        view = table.view
        assert (view.question, view.disturbed, view.problems) == (None, frozenset(), ())
    assert len(log.matches("1")) == 2


@pytest.mark.parametrize(
    ("game", "variant"),
    [
        (Game.start("anywhere"), "standard"),
        (Game.start(layout=Layout.parse("ring")), "standard"),
        (Game.start(sets=2), "standard"),
        (Game.start(), "green-box"),
    ],
)
def test_match_in_which_nothing_was_played_does_not_keep_another_from_beginning(log, game, variant):
    with Program(log) as first:
        first.look()
    with Program(log, game=game, variant=variant, wanted=True) as second:
        second.look()
        assert (second.view.game, second.view.variant) == (game, variant)
    assert [match.opening.variant for match in log.matches("1")] == ["standard", variant]


def test_match_in_which_nothing_was_played_yet_goes_on_with_its_players(log):
    with Program(log) as first:
        first.table.do(first.table.new_match(Game.start("anywhere"), Players("Ann", "Ben")))
    with Program(log, game=Game.start("anywhere"), wanted=True) as second:
        second.look()
        assert second.view.players == Players("Ann", "Ben")
    with Program(log) as third:  # started without options
        third.look()
        assert (third.view.players, third.view.game.first) == (Players("Ann", "Ben"), "anywhere")
    assert len(log.matches("1")) == 2


def killed_after_an_undoing(log, corrected=""):
    """A program in which a1+ was played, and a3><, which may have been corrected, and was undone."""
    with Program(log) as program:
        program.look()
        program.play("a1+")
        program.play("a3><")
        if corrected:
            program.table.do(lambda referee, time: referee.correct(time, 2, corrected))
        program.table.do(lambda referee, time: referee.undo(time))
    return program


def test_piece_of_a_move_that_was_undone_before_a_restart_is_no_move_again(log):
    first = killed_after_an_undoing(log)
    with Program(log, first) as second:
        second.look()
        assert (history(second), second.view.to_lift) == (["a1+"], {Square.parse("a3")})
        second.lift("a3")
        second.look()
        second.play("a4x")
        assert history(second) == ["a1+", "a4x"]


def test_another_piece_on_the_square_of_a_move_that_was_undone_before_a_restart_is_the_next_move_if_people_say_so(log):
    first = killed_after_an_undoing(log)
    first.put("a3", "dark straight")
    with Program(log, first) as second:
        second.look()
        [problem] = second.look().problems
        assert (history(second), problem.square, second.view.to_lift) == (["a1+"], Square.parse("a3"), set())
        second.table.do(lambda referee, time: referee.answer(time, problem.square, Piece.parse("dark straight")))
        assert history(second) == ["a1+", "a3+"]


def test_a_move_that_was_corrected_and_then_undone_before_a_restart_is_no_move_again(log):
    first = killed_after_an_undoing(log, corrected="a3x")
    with Program(log, first) as second:
        second.look()
        second.look()
        assert (history(second), second.view.to_lift) == (["a1+"], {Square.parse("a3")})
    [match] = log.matches("1")
    assert {str(piece) for piece in log.pieces_told(match.id)} == {"light straight", "dark puller", "dark diagonal"}


def test_pieces_of_the_match_before_are_no_moves_of_one_that_was_begun_before_a_restart(log):
    with Program(log) as first:
        first.look()
        first.play("a1+")
        first.play("a3><")
        first.table.do(first.table.new_match(Game.start(), Players()))
    with Program(log, first) as second:
        second.look()
        assert (history(second), second.view.question.question) == ([], "start")
        for square in ("a1", "a3"):
            second.lift(square)
        second.look()
        assert (history(second), second.view.question) == ([], None)
        second.play("b1+")
        assert history(second) == ["b1+"]


def a_recording(log) -> None:
    """A file of one move, as `run` plays it to its end."""
    game, pace = Game.start(), Pace(first_s=0.5, reach_s=0.1, leave_s=0.1, rest_s=0.5, last_s=0.5)
    film = ScriptedSource("video:game.mp4", moves_by_hand(["a1+"], game.layout, pace=pace))
    with table_for(Equipment((film,)), game, log, table="1").running() as table:
        while not table.view.ended:
            table.wait_newer(table.view.revision, timeout_s=1)


def test_camera_goes_on_with_the_match_that_was_played_here_and_not_with_a_recording(log):
    a_recording(log)
    assert '[Source "recording"]' in log.match_text(1).write()
    with Program(log) as first:
        assert first.look().question is None
        first.play("d4x")
    a_recording(log)
    with Program(log, first) as second:
        second.look()
        assert history(second) == ["d4x"]
    assert [match.plies for match in log.matches("1")] == [1, 1, 1]


@pytest.mark.parametrize("ended", [True, False])
@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE events SET link = replace(link, 'a1+', 'zz+')",
        "UPDATE events SET link = replace(link, 'a1+', 'd1+')",
        "UPDATE events SET link = '{'",
        "UPDATE matches SET link = '{'",
    ],
)
def test_damaged_past_does_not_keep_a_table_from_starting(log, capsys, damage, ended):
    with Program(log) as first:
        first.play("a1+")
        if ended:
            first.table.do(lambda referee, time: referee.resign(time, Colour.DARK))
    with log._database.writing() as connection:
        connection.exec_driver_sql(damage)
    with Program(log) as second:
        second.play("a4x")
        assert history(second) == ["a4x"]
    assert "table 1 begins another match: match 1 is" in capsys.readouterr().err


ROUTES = """Main:
  +-- 0.0.0.0/0 3 0 5
     |-- 0.0.0.0
        /0 universe UNICAST
     +-- 127.0.0.0/8 2 0 2
        |-- 127.0.0.1
           /32 host LOCAL
     +-- 192.168.77.0/24 2 0 2
        |-- 192.168.77.0
           /24 link UNICAST
        |-- 192.168.77.1
           /32 host LOCAL
        |-- 192.168.77.255
           /32 link BROADCAST
     |-- 10.9.8.7
        /32 host LOCAL
"""


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # a socket that cheroot forgets
def test_a_start_that_does_not_get_its_port_leaves_the_match_alone(log):
    game = Game.start()
    table = table_for(Equipment((BoardByHand(game),)), game, log, table="1")
    with socket.create_server(("127.0.0.1", 0)) as other, pytest.raises(ServerError) as refused:
        serve({"1": table}, Keys.new(), port=(port := other.getsockname()[1]))
    why = "it is in use, perhaps by another companion"
    assert str(refused.value) == f"port {port} cannot be had: {why}; choose another with --port"
    assert log.matches() == []


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # a socket that cheroot forgets
def test_address_that_is_not_this_machines_is_told_with_the_systems_reason():
    app = create_app({}, Gate(clock=lambda: 0.0))
    with pytest.raises(ServerError, match=r"^port 8000 cannot be had: Cannot assign requested address; choose"):
        Serving(app, "203.0.113.1", 8000).open()


def test_keys_that_cannot_be_kept_are_told_with_what_to_do(tmp_path):
    (folder := tmp_path / "games").mkdir()
    with only_read(folder), pytest.raises(StoreError) as told:
        Keys.kept(folder)
    assert str(told.value) == (
        f"{folder}/keys.json cannot be read or written: Permission denied; check who owns {folder}, or choose another "
        "data folder"
    )


def test_keys_of_a_first_start_that_was_broken_off_are_made_anew(tmp_path):
    (tmp_path / "keys.json").touch()
    keys = Keys.kept(tmp_path)
    assert Keys.kept(tmp_path) == keys
    assert stat.S_IMODE((tmp_path / "keys.json").stat().st_mode) & 0o077 == 0


def test_every_address_of_this_machine_is_told_but_those_that_lead_to_itself(tmp_path):
    routes = tmp_path / "routes"
    routes.write_text(ROUTES * 2)
    told = own_addresses(routes)
    assert {"192.168.77.1", "10.9.8.7"} <= set(told)
    assert not [address for address in told if address.startswith("127.") or address.endswith((".0", ".255"))]
    assert len(set(told)) == len(told)
    assert told[-1].endswith(".local")


def test_machine_that_does_not_tell_its_routes_has_its_names(tmp_path):
    assert own_addresses(tmp_path / "none")[-1].endswith(".local")
